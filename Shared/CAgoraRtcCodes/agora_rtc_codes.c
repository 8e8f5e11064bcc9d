/* The enumerations are in the header alone. */
#include "agora_rtc_codes.h"
