/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What differs between the BPF and the native build, and nothing else: integer types, byte order,
 * atomic additions and the barrier that keeps a bound in the verifier's sight. */
#ifndef XSF_BASE_H
#define XSF_BASE_H

#include <linux/types.h>

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif
#ifndef __noinline
#define __noinline __attribute__((noinline))
#endif

#define XSF_MIN(a, b) ((a) < (b) ? (a) : (b))

static __always_inline __u16 xsf_swap16(__u16 v)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return __builtin_bswap16(v);
#else
	return v;
#endif
}

static __always_inline __u32 xsf_swap32(__u32 v)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return __builtin_bswap32(v);
#else
	return v;
#endif
}

#ifdef __bpf__

/* A function that the verifier checks once, for any caller. */
#define XSF_GLOBAL __noinline
/* Loads of any alignment: the verifier allows them on map values and packets, and clang would make
 * four byte loads of a memcpy. */
typedef __u16 __attribute__((may_alias)) xsf_any16;
typedef __u32 __attribute__((may_alias)) xsf_any32;
typedef __u64 __attribute__((may_alias)) xsf_any64;
#define XSF_LOAD16(p) (*(const xsf_any16 *)(p))
#define XSF_LOAD32(p) (*(const xsf_any32 *)(p))
#define XSF_LOAD64(p) (*(const xsf_any64 *)(p))
/* Adds to a value that other CPUs add to as well. */
#define XSF_ATOMIC_ADD(p, v) ((void)__sync_fetch_and_add((p), (v)))
#define XSF_FETCH_ADD(p, v) __sync_fetch_and_add((p), (v))
#define XSF_CAS(p, old, new) __sync_val_compare_and_swap((p), (old), (new))
#define XSF_TAKE(p) __sync_lock_test_and_set((p), 0)
/* Hides where a value came from, so that the compiler cannot undo the bound put on it. */
#define XSF_OPAQUE(v) asm volatile("" : "+r"(v))

#else

#include <string.h>

static __always_inline __u16 xsf_load16(const void *p)
{
	__u16 v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static __always_inline __u32 xsf_load32(const void *p)
{
	__u32 v;

	memcpy(&v, p, sizeof(v));
	return v;
}

#define XSF_GLOBAL static __noinline
static __always_inline __u64 xsf_load64(const void *p)
{
	__u64 v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* The native build has one thread. */
#define XSF_LOAD16(p) xsf_load16(p)
#define XSF_LOAD32(p) xsf_load32(p)
#define XSF_LOAD64(p) xsf_load64(p)
#define XSF_ATOMIC_ADD(p, v) ((void)(*(p) += (v)))
#define XSF_FETCH_ADD(p, v) \
	__extension__({ \
		__typeof__(*(p)) was_ = *(p); \
		*(p) += (v); \
		was_; \
	})
#define XSF_CAS(p, old, new) \
	__extension__({ \
		__typeof__(*(p)) was_ = *(p); \
		if (was_ == (old)) \
			*(p) = (new); \
		was_; \
	})
#define XSF_TAKE(p) \
	__extension__({ \
		__typeof__(*(p)) was_ = *(p); \
		*(p) = 0; \
		was_; \
	})
#define XSF_OPAQUE(v) ((void)(v))

#endif

static __always_inline __u16 xsf_be16(const __u8 *p)
{
	return xsf_swap16(XSF_LOAD16(p));
}

static __always_inline __u32 xsf_be32(const __u8 *p)
{
	return xsf_swap32(XSF_LOAD32(p));
}

static __always_inline __u64 xsf_be64(const __u8 *p)
{
	return (__u64)xsf_be32(p) << 32 | xsf_be32(p + 4);
}

#endif
