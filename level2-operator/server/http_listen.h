// A socket that listens.
#ifndef LEVEL2_HTTP_LISTEN_H
#define LEVEL2_HTTP_LISTEN_H

#include "common/status.h"

// Binds host:port and listens; non-blocking, closed on exec. *port 0 takes a free one and says which.
// A port that another program holds gives ERR_IO and one clear line. *fd is the caller's.
enum status http_listen(int *fd, const char *host, int *port, struct error *err);

#endif
