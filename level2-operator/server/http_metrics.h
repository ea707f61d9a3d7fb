// GET /metrics: what engine, text worker and HTTP loop count, as text for Prometheus (exposition
// format 0.0.4). What vLLM counts too has vLLM's name and meaning, so that dashboards made for it
// show this server; what is ours alone begins with ladder_. docs/level2/metrics.md explains each.
#ifndef LEVEL2_HTTP_METRICS_H
#define LEVEL2_HTTP_METRICS_H

#include "level2-operator/server/http_server.h"
#include "level2-operator/text/buffer.h"

// On the HTTP loop. While the model loads, only what does not speak of it is there.
void http_metrics_write(struct buffer *out, const struct http_server *s);

#endif
