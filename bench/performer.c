/* A daemon that only asks its client to perform: `performer SOCKET CALLS`
 *
 * The program serves one app on SOCKET. It sends CALLS times `perform` to the attached connection, and waits for the
 * completion on any connection. Then it prints "P50_US P99_US", the time between the two, which measures the client:
 * its side of the socket, its loop and its handler. A message ends with a NUL byte (the framing of Varlink). The program
 * answers leases and a watch as refreshd does, because a client of refreshd needs them.
 *
 * `performer SOCKET` is the smallest possible client, for comparison: it attaches and sends each message back unchanged
 * on the same connection.
 */
#define _GNU_SOURCE
#include <err.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { PEERS = 16, ROOM = 1 << 16 };

struct peer {
  size_t held;
  char bytes[ROOM];
};

static const struct { const char *method, *answer; } answers[] = {
    {"org.refreshd.App.Attach", "{\"parameters\":{\"event\":{\"kind\":\"attached\",\"phase\":\"background\"}},\"continues\":true}"},
    {"org.refreshd.App.Signal", "{\"parameters\":{\"phase\":\"background\"},\"continues\":true}"},
    {"org.refreshd.Manager.Watch", "{\"parameters\":{\"event\":{\"kind\":\"watching\",\"at_us\":0}},\"continues\":true}"},
};

static struct pollfd set[PEERS + 1]; /* the first is the listener */
static struct peer *peers[PEERS + 1];
static int count = 1, attached = -1;
static long asked, answered, calls;
static int64_t begin, *latencies;

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static int compare(const void *left, const void *right) {
  int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
  return (a > b) - (a < b);
}

/* Sends a message with its NUL. */
static void say(int descriptor, const char *message, size_t length) {
  if (send(descriptor, message, length, MSG_NOSIGNAL) != (ssize_t)length) err(1, "cannot send a message");
}

static void perform(void) {
  char message[512];
  struct timespec wall;
  clock_gettime(CLOCK_REALTIME, &wall);
  int length = snprintf(message, sizeof message,
      "{\"parameters\":{\"event\":{\"kind\":\"perform\",\"refresh\":\"1-%ld\",\"trigger\":\"interval\",\"token\":"
      "\"0123456789abcdef%016lx\",\"deadline_us\":%lld}},\"continues\":true}",
      asked + 1, (unsigned long)asked, (long long)wall.tv_sec * 1000000 + 30000000);
  asked++;
  begin = now();
  say(attached, message, (size_t)length + 1);
}

static void take(int descriptor, const char *message) {
  /* A completion, or the message that the smallest client sends back. */
  if (strstr(message, "token")) {
    static const char taken[] = "{\"parameters\":{}}";
    latencies[answered++] = now() - begin;
    if (answered < calls) perform();
    if (descriptor != attached) say(descriptor, taken, sizeof taken);
    return;
  }
  for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
    if (!strstr(message, answers[i].method)) continue;
    say(descriptor, answers[i].answer, strlen(answers[i].answer) + 1);
    if (i == 0) {
      attached = descriptor;
      perform();
    }
  }
}

/* Returns false when the peer has disconnected. */
static int listen_to(int place) {
  struct peer *peer = peers[place];
  ssize_t got = recv(set[place].fd, peer->bytes + peer->held, ROOM - peer->held, 0);
  if (got <= 0) return 0;
  peer->held += (size_t)got;
  char *start = peer->bytes, *end;
  while ((end = memchr(start, 0, peer->held - (size_t)(start - peer->bytes)))) {
    take(set[place].fd, start);
    start = end + 1;
  }
  peer->held -= (size_t)(start - peer->bytes);
  memmove(peer->bytes, start, peer->held);
  return 1;
}

static void serve(int listener) {
  set[0] = (struct pollfd){.fd = listener, .events = POLLIN};
  while (answered < calls) {
    if (poll(set, (nfds_t)count, -1) < 0) err(1, "cannot wait");
    int before = count;
    if (set[0].revents) {
      int descriptor = accept(listener, NULL, NULL);
      if (descriptor < 0 || count > PEERS) errx(1, "cannot take one more client");
      set[count] = (struct pollfd){.fd = descriptor, .events = POLLIN};
      if (!peers[count] && !(peers[count] = malloc(sizeof **peers))) err(1, "cannot take one more client");
      peers[count++]->held = 0;
    }
    for (int i = before - 1; i > 0; i--) {
      if (!set[i].revents || listen_to(i)) continue;
      if (set[i].fd == attached && answered < calls) errx(1, "the client has gone");
      close(set[i].fd);
      struct peer *gone = peers[i];
      set[i] = set[--count];
      peers[i] = peers[count];
      peers[count] = gone;
    }
  }
}

static void echo(int connection) {
  static const char attach[] = "{\"method\":\"org.refreshd.App.Attach\",\"more\":true}";
  char bytes[ROOM];
  say(connection, attach, sizeof attach);
  ssize_t got = recv(connection, bytes, sizeof bytes, 0); /* the reply to Attach, and perhaps the first perform */
  char *rest = memchr(bytes, 0, (size_t)(got > 0 ? got : 0));
  if (!rest) errx(1, "cannot attach");
  got -= ++rest - bytes;
  if (got) say(connection, rest, (size_t)got);
  while ((got = recv(connection, bytes, sizeof bytes, 0)) > 0) {
    if (send(connection, bytes, (size_t)got, MSG_NOSIGNAL) < 0) return; /* the performer has ended */
  }
}

int main(int argc, char **argv) {
  if (argc < 2) errx(64, "usage: performer SOCKET [CALLS]");
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(argv[1]) >= sizeof address.sun_path) errx(1, "cannot use %s: the path is too long", argv[1]);
  strcpy(address.sun_path, argv[1]);
  int end = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (argc == 2) {
    if (connect(end, (struct sockaddr *)&address, sizeof address) < 0) err(1, "cannot connect to %s", argv[1]);
    echo(end);
    return 0;
  }
  calls = atol(argv[2]);
  latencies = calloc((size_t)calls, sizeof *latencies);
  if (calls < 1 || !latencies) errx(1, "cannot make so many calls");
  if (bind(end, (struct sockaddr *)&address, sizeof address) < 0 || listen(end, PEERS) < 0)
    err(1, "cannot listen on %s", argv[1]);
  puts("listening");
  fflush(stdout);
  serve(end);
  qsort(latencies, (size_t)calls, sizeof *latencies, compare);
  printf("%.2f %.2f\n", (double)latencies[calls / 2] / 1e3, (double)latencies[calls * 99 / 100] / 1e3);
  return 0;
}
