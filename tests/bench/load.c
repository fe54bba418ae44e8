/* SPDX-License-Identifier: Apache-2.0 */
/* load PORT PATH REQUESTS CONNECTIONS [HEADER]: so many GET requests to 127.0.0.1 over kept connections, each from a thread of its own;
 * prints "STATUS REQUESTS-PER-SECOND BYTES-PER-REQUEST". Answers need a Content-Length, or no body. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CONNECTIONS_MAX 64
#define HEAD_MAX 8192

static char request[HEAD_MAX];
static int port;

struct worker {
    pthread_t thread;
    long requests, bytes;
    int status;
};

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int open_connection(void)
{
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((unsigned short)port) };
    int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0)
        return -1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    return fd;
}

static long content_length(const char *head)
{
    for (const char *line = strchr(head, '\n'); line; line = strchr(line + 1, '\n'))
        if (strncasecmp(line + 1, "Content-Length:", 15) == 0)
            return strtol(line + 16, NULL, 10);
    return 0;
}

/* The length of the body, or -1. */
static long exchange(int fd, int *ret_status)
{
    static _Thread_local char rest[1 << 16];
    char head[HEAD_MAX + 1], *end = NULL;
    size_t n = 0, length = strlen(request);
    long body, left;

    if (send(fd, request, length, MSG_NOSIGNAL) != (ssize_t)length)
        return -1;
    while (!end && n < HEAD_MAX) {
        ssize_t got = recv(fd, head + n, HEAD_MAX - n, 0);

        if (got <= 0)
            return -1;
        n += (size_t)got;
        head[n] = '\0';
        end = strstr(head, "\r\n\r\n");
    }
    if (!end)
        return -1;
    *ret_status = atoi(head + 9);
    *end = '\0';
    body = *ret_status == 304 ? 0 : content_length(head);
    for (left = body - (long)(head + n - end - 4); left > 0;) {
        ssize_t got = recv(fd, rest, left < (long)sizeof(rest) ? (size_t)left : sizeof(rest), 0);

        if (got <= 0)
            return -1;
        left -= got;
    }
    return body;
}

static void *run(void *arg)
{
    struct worker *w = arg;
    int fd = open_connection();

    for (long i = 0; i < w->requests && fd >= 0; i++) {
        long n = exchange(fd, &w->status);

        if (n < 0) {
            w->status = -1;
            break;
        }
        w->bytes += n;
    }
    if (fd < 0)
        w->status = -1;
    else
        close(fd);
    return NULL;
}

int main(int argc, char **argv)
{
    static struct worker workers[CONNECTIONS_MAX];
    long requests, bytes = 0;
    int n, status = 0;
    double begin;

    if (argc < 5)
        return 2;
    port = atoi(argv[1]);
    requests = strtol(argv[3], NULL, 10);
    n = atoi(argv[4]) < CONNECTIONS_MAX ? atoi(argv[4]) : CONNECTIONS_MAX;
    snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\n%s%s\r\n", argv[2],
             argc > 5 ? argv[5] : "", argc > 5 ? "\r\n" : "");
    begin = now_s();
    for (int i = 0; i < n; i++) {
        workers[i].requests = requests / n;
        pthread_create(&workers[i].thread, NULL, run, &workers[i]);
    }
    for (int i = 0; i < n; i++) {
        pthread_join(workers[i].thread, NULL);
        bytes += workers[i].bytes;
        if (status == 0 || workers[i].status < 0)
            status = workers[i].status;
    }
    printf("%d %.0f %ld\n", status, (double)(requests / n * n) / (now_s() - begin),
           bytes / (requests / n * n));
    return status < 0;
}
