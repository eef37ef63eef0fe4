// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* verify COMPILER OBJECT...: what the running kernel's verifier makes of every program in the objects.
 * Prints rows of tab-separated text:
 *
 *	kernel	compiler	program	function	insns	stack
 *
 * The row of function "*" is the whole program: instructions verified (the kernel's limit is 1,000,000)
 * and bytes of stack on the deepest chain of calls, each frame rounded up to 32 as 6.1 does (limit 512).
 * The others are its functions: instructions verified for that function alone ("-" for a static one,
 * which is verified within its callers), and bytes of its own frame. Nothing is pinned or attached.
 * Exit 1 when a program was refused; the end of the verifier's log is then on stderr.
 *
 * The kernel tells one sum for a program. A global function is verified by itself, so a program that does
 * nothing but call it, with no other function than those below it, tells what it costs. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#define LOG_BYTES (16u << 20)
#define LOG_FIGURES 4  /* log level: sums only; why a program is refused is told anyway */
#define TAIL_LINES 12  /* of the log of a refused program */
#define TAIL_WIDTH 160 /* bytes of each */
#define MAX_FUNCS 64   /* of one program; the kernel's own bound is 256 */
#define MAX_FRAMES 8   /* depth of calls, the kernel's bound */
#define STUB_INSNS 8

struct func {
	const char *name;
	__u32 type_id;
	size_t start, end; /* in the loaded text */
	int global, takes_ctx;
	int measured;
	unsigned long long insns; /* of a global function's own pass */
	unsigned int stack;
};

struct figures {
	const struct bpf_insn *text;
	struct func func[MAX_FUNCS];
	int nr, nr_stacks;
	unsigned long long insns;
	char *log;
};

static void parse_stacks(struct figures *f, const char *p)
{
	char *end;

	f->nr_stacks = 0;
	while (f->nr_stacks < MAX_FUNCS && isdigit((unsigned char)*p)) {
		f->func[f->nr_stacks++].stack = (unsigned int)strtoul(p, &end, 10);
		p = *end == '+' ? end + 1 : end;
	}
}

/* The number behind "processed " at the beginning of a line; 0 when there is none. */
static unsigned long long processed(const char *log)
{
	const char *p = strstr(log, "\nprocessed ");

	return p ? strtoull(p + strlen("\nprocessed "), NULL, 10) : 0;
}

static int by_start(const void *a, const void *b)
{
	const struct func *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* Does this instruction name a function? Its first instruction goes to *start. */
static int callee(const struct bpf_insn *insn, size_t at, size_t *start)
{
	int call = insn->code == (BPF_JMP | BPF_CALL) && insn->src_reg == BPF_PSEUDO_CALL;
	int address = insn->code == (BPF_LD | BPF_IMM | BPF_DW) && insn->src_reg == BPF_PSEUDO_FUNC;

	*start = at + (size_t)(ssize_t)insn->imm + 1;
	return call || address;
}

static int func_at(const struct figures *f, size_t start)
{
	int i = 0;

	while (i < f->nr && f->func[i].start != start)
		i++;
	return i;
}

/* Where the functions are, in the order in which the verifier numbers them. */
static int find_funcs(struct figures *f, size_t nr)
{
	size_t start;

	f->func[0].start = 0;
	f->nr = 1;
	for (size_t at = 0; at < nr; at++) {
		if (!callee(&f->text[at], at, &start) || func_at(f, start) < f->nr)
			continue;
		if (f->nr == MAX_FUNCS)
			return -E2BIG;
		f->func[f->nr++].start = start;
	}
	qsort(f->func, (size_t)f->nr, sizeof(f->func[0]), by_start);
	for (int i = 0; i < f->nr; i++)
		f->func[i].end = i + 1 < f->nr ? f->func[i + 1].start : nr;
	return 0;
}

/* Marks every function that can be reached from function `at`, itself included. */
static void reach(const struct figures *f, int at, char *reached)
{
	size_t start;

	if (reached[at])
		return;
	reached[at] = 1;
	for (size_t k = f->func[at].start; k < f->func[at].end; k++)
		if (callee(&f->text[k], k, &start))
			reach(f, func_at(f, start), reached);
}

static unsigned int deepest(const struct figures *f, int at, int frames)
{
	unsigned int below = 0, depth;
	size_t start;

	if (frames == MAX_FRAMES)
		return 0;
	for (size_t k = f->func[at].start; k < f->func[at].end; k++) {
		if (!callee(&f->text[k], k, &start))
			continue;
		depth = deepest(f, func_at(f, start), frames + 1);
		if (depth > below)
			below = depth;
	}
	depth = f->func[at].stack ? f->func[at].stack : 1;
	return (depth + 31) / 32 * 32 + below;
}

static int is_ctx(const struct btf *btf, const struct btf_type *proto)
{
	const struct btf_type *t;
	const char *name;

	if (!btf_vlen(proto))
		return 0;
	t = btf__type_by_id(btf, btf_params(proto)[0].type);
	if (!t || !btf_is_ptr(t))
		return 0;
	t = btf__type_by_id(btf, t->type);
	name = t && btf_is_struct(t) ? btf__name_by_offset(btf, t->name_off) : "";
	return !strcmp(name, "xdp_md") || !strcmp(name, "__sk_buff");
}

/* Names and linkage, from the loaded program's BTF. */
static int name_funcs(struct figures *f, int fd, const struct btf *btf)
{
	struct bpf_func_info info[MAX_FUNCS] = { 0 };
	struct bpf_prog_info prog = {
		.nr_func_info = MAX_FUNCS,
		.func_info_rec_size = sizeof(info[0]),
		.func_info = (__u64)(uintptr_t)info,
	};
	__u32 len = sizeof(prog);
	const struct btf_type *t;

	if (bpf_obj_get_info_by_fd(fd, &prog, &len))
		return -errno;
	if (prog.nr_func_info != (__u32)f->nr)
		return -EPROTO;
	for (int i = 0; i < f->nr; i++) {
		struct func *fn = &f->func[i];

		t = btf__type_by_id(btf, info[i].type_id);
		if (!t || !btf_is_func(t))
			return -EPROTO;
		fn->type_id = info[i].type_id;
		fn->name = btf__name_by_offset(btf, t->name_off);
		fn->global = btf_vlen(t) == BTF_FUNC_GLOBAL; /* a function's linkage lies there */
		fn->takes_ctx = is_ctx(btf, btf__type_by_id(btf, t->type));
	}
	return 0;
}

/* A call of the function at `target` without any value; every global function has to check for NULL. */
static void make_stub(struct bpf_insn *insn, size_t target, int takes_ctx)
{
	for (int i = 0; i < 5; i++)
		insn[i] = (struct bpf_insn){ .code = BPF_ALU64 | BPF_MOV | BPF_K,
					     .dst_reg = (__u8)(BPF_REG_1 + i) & 0xf };
	if (takes_ctx)
		insn[0].dst_reg = BPF_REG_0;
	insn[5] = (struct bpf_insn){ .code = BPF_JMP | BPF_CALL,
				     .src_reg = BPF_PSEUDO_CALL,
				     .imm = (__s32)target - 6 };
	insn[6] = (struct bpf_insn){ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 };
	insn[7] = (struct bpf_insn){ .code = BPF_JMP | BPF_EXIT };
}

/* The stub and all that is reached from function `which`, moved together. Returns its length. */
static size_t make_text(const struct figures *f, int which, const char *reached,
			struct bpf_insn *text, struct bpf_func_info *info, __u32 *nr_info)
{
	size_t moved[MAX_FUNCS], at = STUB_INSNS, start;

	info[0] = (struct bpf_func_info){ .type_id = f->func[0].type_id };
	*nr_info = 1;
	for (int i = 0; i < f->nr; i++) {
		if (!reached[i])
			continue;
		moved[i] = at;
		info[*nr_info].insn_off = (__u32)at;
		info[(*nr_info)++].type_id = f->func[i].type_id;
		memcpy(&text[at], &f->text[f->func[i].start],
		       (f->func[i].end - f->func[i].start) * sizeof(*text));
		at += f->func[i].end - f->func[i].start;
	}
	for (int i = 0; i < f->nr; i++) {
		for (size_t k = f->func[i].start; reached[i] && k < f->func[i].end; k++) {
			size_t now = moved[i] + k - f->func[i].start;

			if (callee(&f->text[k], k, &start))
				text[now].imm = (__s32)moved[func_at(f, start)] - (__s32)now - 1;
		}
	}
	make_stub(text, moved[which], f->func[which].takes_ctx);
	return at;
}

/* What a global function costs without the other global ones that it calls. */
static int measure(struct figures *f, int which, const struct bpf_program *prog, int btf_fd)
{
	size_t nr = f->func[f->nr - 1].end + STUB_INSNS;
	struct bpf_insn *text = calloc(nr, sizeof(*text));
	struct bpf_func_info info[MAX_FUNCS + 1];
	char reached[MAX_FUNCS] = { 0 };
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .log_level = LOG_FIGURES, .log_size = LOG_BYTES,
		    .log_buf = f->log, .prog_btf_fd = (__u32)btf_fd, .func_info = info,
		    .func_info_rec_size = sizeof(info[0]));
	unsigned long long sum;
	int err = 0, fd;

	if (!text)
		return -ENOMEM;
	f->func[which].measured = 1;
	reach(f, which, reached);
	nr = make_text(f, which, reached, text, info, &opts.func_info_cnt);
	f->log[0] = '\0';
	fd = bpf_prog_load(bpf_program__type(prog), "verify", "Dual BSD/GPL", text, nr, &opts);
	free(text);
	if (fd < 0)
		return fd;
	close(fd);
	sum = processed(f->log) - STUB_INSNS;
	for (int i = 0; i < f->nr && !err; i++) {
		if (i == which || !reached[i] || !f->func[i].global)
			continue;
		if (!f->func[i].measured)
			err = measure(f, i, prog, btf_fd);
		sum -= f->func[i].insns;
	}
	f->func[which].insns = sum;
	return err;
}

static void print_tail(const char *log)
{
	const char *p = log + strlen(log), *end;

	for (int lines = 0; p > log && lines <= TAIL_LINES; p--)
		lines += p[-1] == '\n';
	for (p = p > log ? p + 1 : p; *p; p = *end ? end + 1 : end) {
		end = strchrnul(p, '\n');
		fprintf(stderr, "%.*s\n", end - p < TAIL_WIDTH ? (int)(end - p) : TAIL_WIDTH, p);
	}
}

static void print_rows(const struct figures *f, const char *compiler, const char *program)
{
	struct utsname host;
	int major = 0, minor = 0;
	char head[256];

	uname(&host);
	sscanf(host.release, "%d.%d", &major, &minor);
	snprintf(head, sizeof(head), "%d.%d\t%s\t%s", major, minor, compiler, program);
	printf("%s\t*\t%llu\t%u\n", head, f->insns, deepest(f, 0, 0));
	for (int i = 0; i < f->nr; i++) {
		if (f->func[i].global)
			printf("%s\t%s\t%llu\t%u\n", head, f->func[i].name, f->func[i].insns,
			       f->func[i].stack);
		else
			printf("%s\t%s\t-\t%u\n", head, f->func[i].name, f->func[i].stack);
	}
}

/* All figures of the program that was loaded; its log is in f->log. */
static int figures_of(struct figures *f, const struct bpf_object *obj,
		      const struct bpf_program *prog)
{
	const char *stacks;
	int err;

	f->text = bpf_program__insns(prog);
	err = find_funcs(f, bpf_program__insn_cnt(prog));
	if (!err)
		err = name_funcs(f, bpf_program__fd(prog), bpf_object__btf(obj));
	if (err)
		return err;
	f->insns = processed(f->log);
	stacks = strstr(f->log, "stack depth ");
	if (stacks)
		parse_stacks(f, stacks + strlen("stack depth "));
	if (!f->insns || f->nr_stacks != f->nr)
		return -EPROTO;
	f->func[0].insns = f->insns;
	for (int i = 1; i < f->nr && !err; i++) {
		if (!f->func[i].global)
			continue;
		if (!f->func[i].measured)
			err = measure(f, i, prog, bpf_object__btf_fd(obj));
		f->func[0].insns -= f->func[i].insns;
	}
	return err;
}

/* Loads the program of this index alone. 1: there is none. */
static int load(const char *path, int index, char *log, struct bpf_object **obj,
		struct bpf_program **prog)
{
	struct bpf_program *it;
	struct bpf_map *map;
	int i = 0;

	*prog = NULL;
	*obj = bpf_object__open_file(path, NULL);
	if (!*obj)
		return -errno;
	bpf_object__for_each_program(it, *obj)
	{
		bpf_program__set_autoload(it, i == index);
		if (i++ == index)
			*prog = it;
	}
	if (!*prog)
		return index ? 1 : -ENOENT;
	bpf_object__for_each_map(map, *obj) bpf_map__set_pin_path(map, NULL);
	log[0] = '\0';
	bpf_program__set_log_buf(*prog, log, LOG_BYTES);
	bpf_program__set_log_level(*prog, LOG_FIGURES);
	return bpf_object__load(*obj);
}

static int verify(const char *compiler, const char *path, int index, char *log)
{
	struct figures f = { .log = log };
	struct bpf_program *prog;
	struct bpf_object *obj;
	int err;

	err = load(path, index, log, &obj, &prog);
	if (err < 0) {
		fprintf(stderr, "verify: %s: %s: %s\n", path,
			prog ? bpf_program__name(prog) : "no program", strerror(-err));
		print_tail(log);
	}
	if (err)
		goto out;
	err = figures_of(&f, obj, prog);
	if (err)
		fprintf(stderr, "verify: %s: cannot tell the functions of %s: %s\n", path,
			bpf_program__name(prog), strerror(-err));
	else
		print_rows(&f, compiler, bpf_program__name(prog));
out:
	bpf_object__close(obj);
	return err;
}

static int quiet(enum libbpf_print_level level, const char *format, va_list args)
{
	return level == LIBBPF_WARN ? vfprintf(stderr, format, args) : 0;
}

int main(int argc, char **argv)
{
	char *log = malloc(LOG_BYTES);
	int failed = 0, err;

	if (argc < 3 || !log) {
		fprintf(stderr, "usage: verify COMPILER OBJECT...\n");
		return 2;
	}
	libbpf_set_print(quiet);
	for (int i = 2; i < argc; i++) {
		for (int index = 0;; index++) {
			err = verify(argv[1], argv[i], index, log);
			failed |= err < 0;
			if (err == 1 || err == -ENOENT)
				break;
		}
	}
	free(log);
	return failed;
}
