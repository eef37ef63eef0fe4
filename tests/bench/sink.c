// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* sink ADDRESS PORT: the least that a collector on a socket can do. Receives with recvmmsg, counts, looks at
 * nothing; on SIGTERM prints the count. */
#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define VECTOR 64
#define BUFFER 2048
#define RECEIVE_BUFFER (8 << 20)

static volatile sig_atomic_t ended;

static void end(int signal_nr)
{
	(void)signal_nr;
	ended = 1;
}

static int listen_on(const char *address, const char *port)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), size = RECEIVE_BUFFER;

	to.sin_port = htons((uint16_t)atoi(port));
	if (fd < 0 || inet_pton(AF_INET, address, &to.sin_addr) != 1 ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) ||
	    bind(fd, (struct sockaddr *)&to, sizeof(to))) {
		perror("sink");
		exit(1);
	}
	return fd;
}

int main(int argc, char **argv)
{
	static uint8_t buffers[VECTOR][BUFFER];
	struct sigaction action = { .sa_handler = end };
	struct mmsghdr messages[VECTOR];
	struct iovec vectors[VECTOR];
	uint64_t received = 0;
	int fd, got;

	if (argc != 3)
		return 2;
	fd = listen_on(argv[1], argv[2]);
	sigaction(SIGTERM, &action, NULL);
	memset(messages, 0, sizeof(messages));
	for (int i = 0; i < VECTOR; i++) {
		vectors[i] = (struct iovec){ buffers[i], BUFFER };
		messages[i].msg_hdr.msg_iov = &vectors[i];
		messages[i].msg_hdr.msg_iovlen = 1;
	}
	while (!ended) {
		got = recvmmsg(fd, messages, VECTOR, MSG_WAITFORONE, NULL);
		if (got > 0)
			received += (uint64_t)got;
		else if (got < 0 && errno != EINTR)
			break;
	}
	printf("%llu\n", (unsigned long long)received);
	close(fd);
	return 0;
}
