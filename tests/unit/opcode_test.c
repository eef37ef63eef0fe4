// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What follows the BTH of each of the 256 opcodes. */
#include "decode.h"

/* Opcodes with a RETH and with an AETH: operation in transport, offsets of DMA length and syndrome from the
 * BTH (IBTA volume 1, 9.2 and 9.3: RDETH 4, DETH 8, XRCETH 4, FETH 4 bytes; the length is the last word of
 * the RETH's 16 bytes). */
static const struct {
	uint8_t opcode, dma_length, syndrome;
} offsets[] = {
	{ 0x06, 24, 0 }, { 0x0a, 24, 0 }, { 0x0b, 24, 0 }, { 0x0c, 24, 0 }, { 0x0d, 0, 12 },
	{ 0x0f, 0, 12 }, { 0x10, 0, 12 }, { 0x11, 0, 12 }, { 0x12, 0, 12 }, { 0x1c, 28, 0 },
	{ 0x1d, 24, 0 }, { 0x26, 24, 0 }, { 0x2a, 24, 0 }, { 0x2b, 24, 0 }, { 0x46, 36, 0 },
	{ 0x4a, 36, 0 }, { 0x4b, 36, 0 }, { 0x4c, 36, 0 }, { 0x4d, 0, 16 }, { 0x4f, 0, 16 },
	{ 0x50, 0, 16 }, { 0x51, 0, 16 }, { 0x52, 0, 16 }, { 0xa6, 28, 0 }, { 0xaa, 28, 0 },
	{ 0xab, 28, 0 }, { 0xac, 28, 0 }, { 0xad, 0, 12 }, { 0xaf, 0, 12 }, { 0xb0, 0, 12 },
	{ 0xb1, 0, 12 }, { 0xb2, 0, 12 },
};

/* Decodes a packet of this opcode, whose byte at each offset says which it is. */
static void is_opcode(uint32_t opcode, uint32_t dma_length, uint32_t syndrome)
{
	const struct xsf_packet *p;
	struct wire w = { 0 };
	uint32_t bth, flags = IP_BTH;

	wire_eth(&w, 0x0800);
	wire_ip4(&w, 0, 17, 0, 0, 8 + 64);
	wire_udp(&w, 1, 4791, 64);
	bth = w.len;
	for (uint32_t i = 0; i < 64; i++)
		wire_8(&w, 0x80 + i);
	w.p[bth] = (uint8_t)opcode;
	p = decode(&w);
	if (dma_length)
		flags |= XSF_PKT_RETH;
	if (syndrome)
		flags |= XSF_PKT_AETH;
	if (p->flags != flags)
		fail_msg("opcode 0x%02x: flags %u, not %u", opcode, p->flags, flags);
	assert_int_equal(p->outcome, XSF_HEADER_roce);
	assert_int_equal(p->opcode, opcode);
	assert_int_equal(p->bth_flags, 0x81);
	if (dma_length && p->dma_length != wire_get32(w.p + bth + dma_length))
		fail_msg("opcode 0x%02x: DMA length not at %u", opcode, dma_length);
	if (syndrome && p->syndrome != w.p[bth + syndrome])
		fail_msg("opcode 0x%02x: syndrome not at %u", opcode, syndrome);
	/* one byte less than needed */
	if (dma_length)
		assert_int_equal(decode_cut(&w, ETHERNET, bth + dma_length + 3)->flags, IP_BTH);
	if (syndrome)
		assert_int_equal(decode_cut(&w, ETHERNET, bth + syndrome)->flags, IP_BTH);
}

static void test_opcodes(void **state)
{
	size_t n = 0;

	(void)state;
	for (uint32_t opcode = 0; opcode < 256; opcode++) {
		if (n < sizeof(offsets) / sizeof(offsets[0]) && offsets[n].opcode == opcode) {
			is_opcode(opcode, offsets[n].dma_length, offsets[n].syndrome);
			n++;
		} else {
			is_opcode(opcode, 0, 0);
		}
	}
	assert_int_equal(n, sizeof(offsets) / sizeof(offsets[0]));
}

/* The same against the table of the specification's companion files, where it is there. */
static void test_opcode_table(void **state)
{
	FILE *f = fopen("../shared/spec/bth_opcodes.tsv", "r");
	uint32_t seen = 0, opcode;
	char line[512];

	(void)state;
	if (!f) {
		print_message("# no table of opcodes beside the repository\n");
		return;
	}
	while (fgets(line, sizeof(line), f)) {
		char *rest = line, *field[21] = { NULL };

		for (size_t i = 0; i < 21; i++)
			field[i] = strsep(&rest, "\t\n");
		if (!field[19] || !strcmp(field[0], "opcode"))
			continue;
		opcode = (uint32_t)strtoul(field[0], NULL, 10);
		/* column 18: DMA length, 19: syndrome; "-" none */
		is_opcode(opcode, (uint32_t)strtoul(field[18], NULL, 10),
			  (uint32_t)strtoul(field[19], NULL, 10));
		seen++;
	}
	fclose(f);
	assert_int_equal(seen, 85);
}

/* Payloads of UDP port 4791 as a public RoCE lab made of containers sends them. */
static void test_lab_vectors(void **state)
{
	/* WRITE First; the word 0x00008000 stands two bytes behind the RETH's length, which is 0 */
	static const uint8_t first[38] = { 0x06, 0x40, 0, 0, 0, 0, 1, 0x23, [28] = 0x80 };
	static const uint8_t ack[38] = { 0x11, 0x40, 0, 0, 0, 0, 1, 0x23, [12] = 7 };
	static const uint8_t cnp[38] = { 0x81, 0, 0, 0, 0, 0, 1, 0x23 };
	const struct xsf_packet *p;
	struct wire w = { 0 };

	(void)state;
	wire_eth(&w, 0x0800);
	wire_ip4(&w, 3, 17, 0, 0, 8 + 38);
	wire_udp(&w, 49152, 4791, 38);
	wire_bytes(&w, first, 38);
	p = decode(&w);
	is_outcome(p, XSF_HEADER_roce, IP_BTH | XSF_PKT_RETH);
	assert_int_equal(p->opcode, 6);
	assert_int_equal(p->bth_flags >> 6, 1);
	assert_int_equal(p->roce_tos, 3);
	assert_int_equal(p->dma_length, 0);
	w.p[w.len - 38] = 7; /* WRITE Middle */
	p = decode(&w);
	is_outcome(p, XSF_HEADER_roce, IP_BTH);
	assert_int_equal(p->opcode, 7);
	memcpy(w.p + w.len - 38, ack, 38);
	p = decode(&w);
	is_outcome(p, XSF_HEADER_roce, IP_BTH | XSF_PKT_AETH);
	assert_int_equal(p->syndrome, 7);
	memcpy(w.p + w.len - 38, cnp, 38);
	p = decode(&w);
	is_outcome(p, XSF_HEADER_roce, IP_BTH);
	assert_int_equal(p->opcode, NET_OP_CNP);
	assert_int_equal(p->bth_flags >> 6, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_opcodes),
		cmocka_unit_test(test_opcode_table),
		cmocka_unit_test(test_lab_vectors),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
