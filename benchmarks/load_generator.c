/* Clients of a service that take little of the processors they share with it.

   cc -O2 -pthread load_generator.c -o load_generator
   ./load_generator PORT PATH CLIENTS SECONDS FILE

   Each client has a thread and a connection, and posts the next line of FILE, as JSON, when its last request is
   answered. One line of JSON tells what became of them, and how much processor time the clients took themselves. */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define LARGEST_ANSWER (1 << 22)

static int port;
static double ends_at;
static char **requests;
static size_t request_count;
static atomic_size_t next_request, answered, failed;

static double now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec + at.tv_nsec / 1e9;
}

static int connected(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int connection = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
    if (connection < 0 || connect(connection, (struct sockaddr *)&address, sizeof address)) return -1;
    setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return connection;
}

/* The status of the answer to a request, or 0 if there is none. */
static int ask(int connection, const char *request, char *answer) {
    for (size_t sent = 0, length = strlen(request); sent < length;) {
        ssize_t some = send(connection, request + sent, length - sent, MSG_NOSIGNAL);
        if (some <= 0) return 0;
        sent += some;
    }
    size_t got = 0, wanted = LARGEST_ANSWER;
    while (got < wanted) {
        ssize_t some = recv(connection, answer + got, LARGEST_ANSWER - got, 0);
        if (some <= 0) return 0;
        got += some;
        answer[got] = 0;
        char *end = strstr(answer, "\r\n\r\n"), *length = strcasestr(answer, "\r\ncontent-length:");
        if (end && length && length < end) wanted = end + 4 - answer + strtoul(length + 17, NULL, 10);
    }
    return atoi(answer + 9); /* after "HTTP/1.1 " */
}

static void *client(void *nothing) {
    char *answer = malloc(LARGEST_ANSWER + 1);
    int connection = connected();
    while (now() < ends_at) {
        if (ask(connection, requests[next_request++ % request_count], answer) == 200) {
            answered++;
            continue;
        }
        failed++;
        close(connection);
        usleep(100000);
        connection = connected();
    }
    close(connection);
    free(answer);
    return nothing;
}

static void read_requests(const char *file, const char *path) {
    FILE *lines = fopen(file, "r");
    char *line = NULL;
    size_t size = 0;
    for (ssize_t length; lines && (length = getline(&line, &size, lines)) > 1;) {
        line[--length] = 0;
        requests = realloc(requests, (request_count + 1) * sizeof *requests);
        if (asprintf(&requests[request_count++],
                     "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %zd\r\n\r\n%s",
                     path, length, line) < 0)
            exit(1);
    }
    if (!request_count) {
        fprintf(stderr, "%s has no requests\n", file);
        exit(2);
    }
}

int main(int count, char **arguments) {
    if (count != 6) {
        fprintf(stderr, "usage: load_generator PORT PATH CLIENTS SECONDS FILE\n");
        return 2;
    }
    port = atoi(arguments[1]);
    int clients = atoi(arguments[3]);
    read_requests(arguments[5], arguments[2]);
    pthread_t *threads = calloc(clients, sizeof *threads);
    double start = now();
    ends_at = start + atof(arguments[4]);
    for (int i = 0; i < clients; i++) pthread_create(&threads[i], NULL, client, NULL);
    for (int i = 0; i < clients; i++) pthread_join(threads[i], NULL);
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    double cpu = used.ru_utime.tv_sec + used.ru_stime.tv_sec + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
    printf("{\"answered\": %zu, \"failed\": %zu, \"seconds\": %.4f, \"cpu\": %.4f}\n", answered, failed, now() - start, cpu);
    return 0;
}
