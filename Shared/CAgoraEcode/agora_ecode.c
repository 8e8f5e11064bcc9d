/* The header is all there is; a C target needs a source file. */
#include "agora_ecode.h"
