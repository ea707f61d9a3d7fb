// The version of everything here: programs print it, the server reports it.
#ifndef COMMON_VERSION_H
#define COMMON_VERSION_H

static const char VERSION[] = "0.1.0";

#endif
