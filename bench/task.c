/* The smallest possible task: `task FILE ID` appends one line, "ID MICROSECONDS\n", to FILE and exits with 0.
 *
 * MICROSECONDS is CLOCK_REALTIME, 16 digits, read by the first instructions of the program. There is no C library, so
 * that the bench measures the scheduler and not the dynamic linker. With an ID of four characters every line has 22
 * bytes. O_APPEND keeps the lines of concurrent tasks whole (write(2)).
 *
 *   cc -O2 -static -nostdlib -fno-stack-protector -o task task.c
 */
#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>

static long call(long number, long a, long b, long c, long d) {
#if defined(__x86_64__)
  register long r10 __asm__("r10") = d;
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
                   : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c,
                x3 __asm__("x3") = d;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
  return x0;
#else
#error "write call() and _start for this processor"
#endif
}

__attribute__((used, noreturn)) static void run(char **stack) {
  struct timespec now;
  call(SYS_clock_gettime, CLOCK_REALTIME, (long)&now, 0, 0);

  char line[64];
  int length = 0;
  for (const char *id = stack[3]; *id && length < 40; id++) line[length++] = *id; /* stack: argc, argv[0], … */
  line[length++] = ' ';
  long microseconds = now.tv_sec * 1000000 + now.tv_nsec / 1000;
  for (int digit = 15; digit >= 0; digit--, microseconds /= 10) line[length + digit] = '0' + microseconds % 10;
  length += 16;
  line[length++] = '\n';

  long file = call(SYS_openat, AT_FDCWD, (long)stack[2], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  int written = file >= 0 && call(SYS_write, file, (long)line, length, 0) == length;
  for (;;) call(SYS_exit_group, written ? 0 : 1, 0, 0, 0);
}

#if defined(__x86_64__)
__asm__(".globl _start\n_start:\n  mov %rsp, %rdi\n  and $-16, %rsp\n  call run\n");
#else
__asm__(".globl _start\n_start:\n  mov x0, sp\n  bl run\n");
#endif
