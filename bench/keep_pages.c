/* Preloaded into a program under touched.c: the program keeps its pages, and with them the breakpoints. */
#include <sys/mman.h>

int madvise(void *start, size_t length, int advice) {
  (void)start, (void)length, (void)advice;
  return 0;
}
