// A whole request: what is asked, may he, and who answers. The order of the checks is the order in
// which errors win.
//
//   framing ─▶ OPTIONS ─▶ key (401) ─▶ path (404) ─▶ method (405) ─▶ health, models: answered here
//           ─▶ size (413) ─▶ state (503) ─▶ room (429) ─▶ a job for the text worker
#ifndef LEVEL2_HTTP_REQUEST_H
#define LEVEL2_HTTP_REQUEST_H

struct evhttp_request;

// For evhttp_set_gencb; server is a struct http_server.
void http_request_handle(struct evhttp_request *req, void *server);

#endif
