// Functions that the C library's headers declare only with _GNU_SOURCE or _XOPEN_SOURCE, which stay undefined here.
#pragma once

/* The columns of a character on a terminal, in the locale of the thread; -1 for an unprintable one: wcwidth(3). */
int wcwidth(__WCHAR_TYPE__ character);

/* The name of a signal without SIG, such as SEGV; null if it has none: strsignal(3). */
const char *sigabbrev_np(int signal);
