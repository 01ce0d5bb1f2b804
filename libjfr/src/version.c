#include <jfr/jfr.h>

#include "version.h"

const char *jfr_version(void)
{
    return JFR_VERSION;
}
