/* Calls a server on a Unix socket as fast as it answers: `client SOCKET CONNECTIONS CALLS MESSAGE…`
 *
 * A single thread makes CALLS calls over CONNECTIONS connections, with always one call in flight on each connection. A
 * message and its answer end with a NUL byte (the framing of Varlink). Each connection sends the messages in turn. The
 * first "%04d" of a message is replaced by the number of the connection, so that each can ask for its own app.
 * The program prints "P50_US P99_US CALLS_PER_SECOND". An answer with "error" is printed and ends it with status 1.
 */
#define _GNU_SOURCE
#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

struct connection {
  int descriptor;
  long calls;    /* calls made so far */
  int64_t asked; /* when the call in flight was sent, nanoseconds */
  char **messages;
  size_t *lengths;
  char *answer; /* the bytes of the answer so far */
  size_t held, capacity;
};

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static int compare(const void *left, const void *right) {
  int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
  return (a > b) - (a < b);
}

static void open_connection(struct connection *self, const char *path, int number, char **patterns, int count) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path) errx(1, "cannot use %s: the path is too long for a socket", path);
  strcpy(address.sun_path, path);
  self->descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (self->descriptor < 0 || connect(self->descriptor, (struct sockaddr *)&address, sizeof address) < 0)
    err(1, "cannot connect to %s", path);
  self->messages = calloc(count, sizeof *self->messages);
  self->lengths = calloc(count, sizeof *self->lengths);
  self->capacity = 1 << 16;
  self->answer = malloc(self->capacity);
  for (int i = 0; i < count; i++) {
    const char *mark = strstr(patterns[i], "%04d");
    int head = mark ? (int)(mark - patterns[i]) : (int)strlen(patterns[i]);
    int length = mark ? asprintf(&self->messages[i], "%.*s%04d%s", head, patterns[i], number, mark + 4)
                      : asprintf(&self->messages[i], "%s", patterns[i]);
    if (length < 0) err(1, "cannot write a message");
    self->lengths[i] = (size_t)length + 1; /* with its NUL */
  }
}

static void ask(struct connection *self, int count) {
  int i = (int)(self->calls++ % count);
  self->held = 0;
  self->asked = now();
  for (size_t sent = 0; sent < self->lengths[i];) {
    ssize_t n = send(self->descriptor, self->messages[i] + sent, self->lengths[i] - sent, MSG_NOSIGNAL);
    if (n < 0) err(1, "cannot send a call");
    sent += (size_t)n;
  }
}

/* Reads bytes; returns whether the answer is complete. */
static int take(struct connection *self) {
  if (self->held == self->capacity) self->answer = realloc(self->answer, self->capacity *= 2);
  if (!self->answer) err(1, "cannot hold an answer");
  ssize_t n = recv(self->descriptor, self->answer + self->held, self->capacity - self->held, 0);
  if (n == 0) errx(1, "cannot go on: the server closed the connection");
  if (n < 0) err(1, "cannot receive an answer");
  self->held += (size_t)n;
  if (self->answer[self->held - 1] != 0) return 0;
  if (memmem(self->answer, self->held, "\"error\"", 7)) errx(1, "the server answered %s", self->answer);
  return 1;
}

int main(int argc, char **argv) {
  if (argc < 5) errx(64, "usage: client SOCKET CONNECTIONS CALLS MESSAGE...");
  int connections = atoi(argv[2]), count = argc - 4, queue = epoll_create1(EPOLL_CLOEXEC);
  long calls = atol(argv[3]), asked = 0, answered = 0;
  struct connection *all = calloc((size_t)connections, sizeof *all);
  int64_t *latencies = calloc((size_t)calls, sizeof *latencies);
  if (queue < 0 || !all || !latencies || connections < 1 || calls < connections) errx(1, "cannot set up the calls");

  for (int i = 0; i < connections; i++) {
    open_connection(&all[i], argv[1], i, argv + 4, count);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &all[i]};
    if (epoll_ctl(queue, EPOLL_CTL_ADD, all[i].descriptor, &event) < 0) err(1, "cannot watch a connection");
  }
  int64_t begin = now();
  for (int i = 0; i < connections; i++, asked++) ask(&all[i], count);
  while (answered < calls) {
    struct epoll_event events[64];
    int ready = epoll_wait(queue, events, 64, -1);
    for (int i = 0; i < ready; i++) {
      struct connection *connection = events[i].data.ptr;
      if (!take(connection)) continue;
      latencies[answered++] = now() - connection->asked;
      if (asked < calls) ask(connection, count), asked++;
    }
  }
  double seconds = (double)(now() - begin) / 1e9;
  qsort(latencies, (size_t)calls, sizeof *latencies, compare);
  printf("%.2f %.2f %.0f\n", (double)latencies[calls / 2] / 1e3, (double)latencies[calls * 99 / 100] / 1e3,
         (double)calls / seconds);
  return 0;
}
