// The C library's mathematics and nothing else of it: the engine may compute, and may not look at a clock.
#include <math.h>
