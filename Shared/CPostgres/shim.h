// Debian keeps libpq's header in a folder of its own; others put it on the search path.
#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#else
#include <postgresql/libpq-fe.h>
#endif
