/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* BTH opcodes (IBTA volume 1, section 9.2.1; include/rdma/ib_pack.h): number, transport, IBTA name,
 * collapsed operation, offset of the RETH DMA length and of the AETH syndrome from the BTH (0 = none). */
#ifndef XSF_OPCODES_H
#define XSF_OPCODES_H

/* clang-format off */
#define XSF_OPCODES(X) \
	X(0x00, "RC", "SEND First", "SEND", 0, 0) \
	X(0x01, "RC", "SEND Middle", "SEND", 0, 0) \
	X(0x02, "RC", "SEND Last", "SEND", 0, 0) \
	X(0x03, "RC", "SEND Last with Immediate", "SEND", 0, 0) \
	X(0x04, "RC", "SEND Only", "SEND", 0, 0) \
	X(0x05, "RC", "SEND Only with Immediate", "SEND", 0, 0) \
	X(0x06, "RC", "RDMA WRITE First", "RDMA_WRITE", 24, 0) \
	X(0x07, "RC", "RDMA WRITE Middle", "RDMA_WRITE", 0, 0) \
	X(0x08, "RC", "RDMA WRITE Last", "RDMA_WRITE", 0, 0) \
	X(0x09, "RC", "RDMA WRITE Last with Immediate", "RDMA_WRITE", 0, 0) \
	X(0x0a, "RC", "RDMA WRITE Only", "RDMA_WRITE", 24, 0) \
	X(0x0b, "RC", "RDMA WRITE Only with Immediate", "RDMA_WRITE", 24, 0) \
	X(0x0c, "RC", "RDMA READ Request", "RDMA_READ_REQUEST", 24, 0) \
	X(0x0d, "RC", "RDMA READ Response First", "RDMA_READ_RESPONSE", 0, 12) \
	X(0x0e, "RC", "RDMA READ Response Middle", "RDMA_READ_RESPONSE", 0, 0) \
	X(0x0f, "RC", "RDMA READ Response Last", "RDMA_READ_RESPONSE", 0, 12) \
	X(0x10, "RC", "RDMA READ Response Only", "RDMA_READ_RESPONSE", 0, 12) \
	X(0x11, "RC", "Acknowledge", "ACK", 0, 12) \
	X(0x12, "RC", "ATOMIC Acknowledge", "ATOMIC_ACK", 0, 12) \
	X(0x13, "RC", "CmpSwap", "COMPARE_SWAP", 0, 0) \
	X(0x14, "RC", "FetchAdd", "FETCH_ADD", 0, 0) \
	X(0x16, "RC", "SEND Last with Invalidate", "SEND", 0, 0) \
	X(0x17, "RC", "SEND Only with Invalidate", "SEND", 0, 0) \
	X(0x1c, "RC", "FLUSH", "FLUSH", 28, 0) \
	X(0x1d, "RC", "ATOMIC WRITE", "ATOMIC_WRITE", 24, 0) \
	X(0x20, "UC", "SEND First", "SEND", 0, 0) \
	X(0x21, "UC", "SEND Middle", "SEND", 0, 0) \
	X(0x22, "UC", "SEND Last", "SEND", 0, 0) \
	X(0x23, "UC", "SEND Last with Immediate", "SEND", 0, 0) \
	X(0x24, "UC", "SEND Only", "SEND", 0, 0) \
	X(0x25, "UC", "SEND Only with Immediate", "SEND", 0, 0) \
	X(0x26, "UC", "RDMA WRITE First", "RDMA_WRITE", 24, 0) \
	X(0x27, "UC", "RDMA WRITE Middle", "RDMA_WRITE", 0, 0) \
	X(0x28, "UC", "RDMA WRITE Last", "RDMA_WRITE", 0, 0) \
	X(0x29, "UC", "RDMA WRITE Last with Immediate", "RDMA_WRITE", 0, 0) \
	X(0x2a, "UC", "RDMA WRITE Only", "RDMA_WRITE", 24, 0) \
	X(0x2b, "UC", "RDMA WRITE Only with Immediate", "RDMA_WRITE", 24, 0) \
	X(0x40, "RD", "SEND First", "SEND", 0, 0) \
	X(0x41, "RD", "SEND Middle", "SEND", 0, 0) \
	X(0x42, "RD", "SEND Last", "SEND", 0, 0) \
	X(0x43, "RD", "SEND Last with Immediate", "SEND", 0, 0) \
	X(0x44, "RD", "SEND Only", "SEND", 0, 0) \
	X(0x45, "RD", "SEND Only with Immediate", "SEND", 0, 0) \
	X(0x46, "RD", "RDMA WRITE First", "RDMA_WRITE", 36, 0) \
	X(0x47, "RD", "RDMA WRITE Middle", "RDMA_WRITE", 0, 0) \
	X(0x48, "RD", "RDMA WRITE Last", "RDMA_WRITE", 0, 0) \
	X(0x49, "RD", "RDMA WRITE Last with Immediate", "RDMA_WRITE", 0, 0) \
	X(0x4a, "RD", "RDMA WRITE Only", "RDMA_WRITE", 36, 0) \
	X(0x4b, "RD", "RDMA WRITE Only with Immediate", "RDMA_WRITE", 36, 0) \
	X(0x4c, "RD", "RDMA READ Request", "RDMA_READ_REQUEST", 36, 0) \
	X(0x4d, "RD", "RDMA READ Response First", "RDMA_READ_RESPONSE", 0, 16) \
	X(0x4e, "RD", "RDMA READ Response Middle", "RDMA_READ_RESPONSE", 0, 0) \
	X(0x4f, "RD", "RDMA READ Response Last", "RDMA_READ_RESPONSE", 0, 16) \
	X(0x50, "RD", "RDMA READ Response Only", "RDMA_READ_RESPONSE", 0, 16) \
	X(0x51, "RD", "Acknowledge", "ACK", 0, 16) \
	X(0x52, "RD", "ATOMIC Acknowledge", "ATOMIC_ACK", 0, 16) \
	X(0x53, "RD", "CmpSwap", "COMPARE_SWAP", 0, 0) \
	X(0x54, "RD", "FetchAdd", "FETCH_ADD", 0, 0) \
	X(0x55, "RD", "RESYNC", "RESYNC", 0, 0) \
	X(0x64, "UD", "SEND Only", "SEND", 0, 0) \
	X(0x65, "UD", "SEND Only with Immediate", "SEND", 0, 0) \
	X(0x81, "CNP", "CNP", "CNP", 0, 0) \
	X(0xa0, "XRC", "SEND First", "SEND", 0, 0) \
	X(0xa1, "XRC", "SEND Middle", "SEND", 0, 0) \
	X(0xa2, "XRC", "SEND Last", "SEND", 0, 0) \
	X(0xa3, "XRC", "SEND Last with Immediate", "SEND", 0, 0) \
	X(0xa4, "XRC", "SEND Only", "SEND", 0, 0) \
	X(0xa5, "XRC", "SEND Only with Immediate", "SEND", 0, 0) \
	X(0xa6, "XRC", "RDMA WRITE First", "RDMA_WRITE", 28, 0) \
	X(0xa7, "XRC", "RDMA WRITE Middle", "RDMA_WRITE", 0, 0) \
	X(0xa8, "XRC", "RDMA WRITE Last", "RDMA_WRITE", 0, 0) \
	X(0xa9, "XRC", "RDMA WRITE Last with Immediate", "RDMA_WRITE", 0, 0) \
	X(0xaa, "XRC", "RDMA WRITE Only", "RDMA_WRITE", 28, 0) \
	X(0xab, "XRC", "RDMA WRITE Only with Immediate", "RDMA_WRITE", 28, 0) \
	X(0xac, "XRC", "RDMA READ Request", "RDMA_READ_REQUEST", 28, 0) \
	X(0xad, "XRC", "RDMA READ Response First", "RDMA_READ_RESPONSE", 0, 12) \
	X(0xae, "XRC", "RDMA READ Response Middle", "RDMA_READ_RESPONSE", 0, 0) \
	X(0xaf, "XRC", "RDMA READ Response Last", "RDMA_READ_RESPONSE", 0, 12) \
	X(0xb0, "XRC", "RDMA READ Response Only", "RDMA_READ_RESPONSE", 0, 12) \
	X(0xb1, "XRC", "Acknowledge", "ACK", 0, 12) \
	X(0xb2, "XRC", "ATOMIC Acknowledge", "ATOMIC_ACK", 0, 12) \
	X(0xb3, "XRC", "CmpSwap", "COMPARE_SWAP", 0, 0) \
	X(0xb4, "XRC", "FetchAdd", "FETCH_ADD", 0, 0) \
	X(0xb6, "XRC", "SEND Last with Invalidate", "SEND", 0, 0) \
	X(0xb7, "XRC", "SEND Only with Invalidate", "SEND", 0, 0)
/* clang-format on */

#endif
