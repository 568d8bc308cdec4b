/* Lists the functions that a program enters: `touched FUNCTIONS OUTPUT PRELOADED PROGRAM ARGUMENT…`
 *
 * FUNCTIONS has a line "ADDRESS NAME" for each; the program must be position independent. Each function gets a breakpoint
 * at its first byte, which goes away when a thread first comes to it, so the program runs at nearly full speed. SIGUSR1
 * puts all breakpoints back and begins a new phase, from 1. SIGTERM is passed on to the program. OUTPUT gets a line
 * "PHASE NAME" when a function is first entered in a phase. The library PRELOADED keeps a program that gives its pages back
 * from losing the breakpoints.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

struct function {
  uint64_t address;
  char *name;
  unsigned char first;
  int phase;
};
static struct function *functions;
static size_t count;
static uint64_t base;
static pid_t program;
static volatile sig_atomic_t phase_wanted = 1;

static int by_address(const void *left, const void *right) {
  uint64_t a = ((const struct function *)left)->address, b = ((const struct function *)right)->address;
  return (a > b) - (a < b);
}

static void read_functions(const char *path) {
  FILE *file = fopen(path, "re");
  if (!file) err(1, "cannot read %s", path);
  char *line = NULL;
  size_t room = 0, capacity = 0;
  while (getline(&line, &room, file) > 0) {
    char *name = strchr(line, ' ');
    if (!name) continue;
    name[strcspn(name, "\n")] = 0;
    if (count == capacity) functions = realloc(functions, (capacity = capacity * 2 + 1024) * sizeof *functions);
    functions[count++] = (struct function){.address = strtoull(line, NULL, 16), .name = strdup(name + 1)};
  }
  fclose(file);
  qsort(functions, count, sizeof *functions, by_address);
  size_t kept = 0;
  for (size_t i = 0; i < count; i++)
    if (i == 0 || functions[i].address != functions[kept - 1].address) functions[kept++] = functions[i];
  count = kept;
}

static int memory_of(pid_t process) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/mem", process);
  int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) err(1, "cannot open %s", path);
  return file;
}

static void find_base(const char *name) {
  char path[64], line[4096], real[4096];
  if (!realpath(name, real)) err(1, "cannot find %s", name);
  snprintf(path, sizeof path, "/proc/%d/maps", program);
  FILE *maps = fopen(path, "re");
  while (maps && !base && fgets(line, sizeof line, maps))
    if (strstr(line, real)) base = strtoull(line, NULL, 16);
  if (!base) errx(1, "cannot find %s in its memory", real);
  fclose(maps);
}

static void arm(int first_time) {
  int memory = memory_of(program);
  unsigned char trap = 0xcc;
  for (size_t i = 0; i < count; i++) {
    off_t at = (off_t)(base + functions[i].address);
    if (first_time && pread(memory, &functions[i].first, 1, at) != 1) errx(1, "cannot read %s", functions[i].name);
    if (pwrite(memory, &trap, 1, at) != 1) err(1, "cannot write at %s", functions[i].name);
  }
  close(memory);
}

static struct function *at_trap(uint64_t address) {
  struct function wanted = {.address = address - base};
  return bsearch(&wanted, functions, count, sizeof wanted, by_address);
}

static void on_signal(int number) {
  if (number == SIGUSR1) phase_wanted++;
  else kill(program, number);
}

int main(int argc, char **argv) {
  if (argc < 5) errx(2, "usage: touched FUNCTIONS OUTPUT PRELOADED PROGRAM ARGUMENT...");
  read_functions(argv[1]);
  FILE *output = fopen(argv[2], "we");
  if (!output) err(1, "cannot write %s", argv[2]);
  program = fork();
  if (program == 0) {
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    setenv("LD_PRELOAD", argv[3], 1);
    execv(argv[4], argv + 4);
    err(127, "cannot run %s", argv[4]);
  }
  int status;
  waitpid(program, &status, 0);
  ptrace(PTRACE_SETOPTIONS, program, 0,
         PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL);
  find_base(argv[4]);
  arm(1);
  int phase = 1;
  struct sigaction action = {.sa_handler = on_signal};
  sigaction(SIGUSR1, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  ptrace(PTRACE_CONT, program, 0, 0);
  for (;;) {
    if (phase_wanted != phase) {
      phase = phase_wanted;
      arm(0);
    }
    pid_t thread = waitpid(-1, &status, __WALL);
    if (thread < 0) {
      if (errno == EINTR) continue;
      break;
    }
    if (!WIFSTOPPED(status)) {
      if (thread == program) break;
      continue;
    }
    int event = status >> 16, number = WSTOPSIG(status), passed = 0;
    if (event == PTRACE_EVENT_EXEC && thread != program) {
      ptrace(PTRACE_DETACH, thread, 0, 0);
      continue;
    }
    if (event) {
      /* a new thread or process, which stops of its own */
    } else if (number == SIGTRAP) {
      struct user_regs_struct registers;
      ptrace(PTRACE_GETREGS, thread, 0, &registers);
      struct function *function = at_trap(registers.rip - 1);
      if (function) {
        registers.rip--;
        int memory = memory_of(thread);
        if (pwrite(memory, &function->first, 1, (off_t)(base + function->address)) != 1) err(1, "cannot write");
        close(memory);
        ptrace(PTRACE_SETREGS, thread, 0, &registers);
        if (function->phase < phase) {
          function->phase = phase;
          fprintf(output, "%d %s\n", phase, function->name);
        }
      }
    } else if (number != SIGSTOP) {
      passed = number;
    }
    ptrace(PTRACE_CONT, thread, 0, passed);
  }
  fclose(output);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
