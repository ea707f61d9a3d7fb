// Every limit of the project, with its unit. One page, nowhere repeated.
// A value from outside that passes a limit is refused with an error that names the limit.
#ifndef COMMON_LIMITS_H
#define COMMON_LIMITS_H

enum {
    LIMIT_PATH_BYTES = 4096,    // of a file's path, with its NUL: PATH_MAX of Linux
    LIMIT_MODEL_ID_BYTES = 128, // of the name that clients know a model by, with its NUL

    // Model files
    LIMIT_GGUF_KEYS = 65536,      // metadata keys in one file
    LIMIT_GGUF_TENSORS = 65536,   // tensors in one file
    LIMIT_GGUF_NAME_BYTES = 256,  // longest key or tensor name
    LIMIT_GGUF_ARRAY_DEPTH = 4,   // arrays inside arrays
    LIMIT_TENSOR_DIMS = 4,        // dimensions of a tensor
    LIMIT_LAYERS = 1024,          // transformer layers
    LIMIT_VOCAB = 1 << 21,        // tokens in a vocabulary
    LIMIT_PIECE_BYTES = 1 << 16,  // bytes of one token
    LIMIT_SPECIAL_BYTES = 256,    // of a token looked for in text: each length is tried
    LIMIT_D_MODEL = 1 << 17,      // width of the model, and of d_ff
    LIMIT_CONTEXT = 1 << 24,      // positions a file may claim
    LIMIT_MODEL_FILES = 1024,     // files that one model is split over
    LIMIT_TABLES_BYTES = 1 << 20, // memory for tables and tokenizer of a very small model,
    LIMIT_TABLES_PER_BYTE = 32,   // and bytes of it for each byte of any

    // Model folders (safetensors and the JSON beside)
    LIMIT_HF_HEADER_BYTES = 32 << 20,    // of a safetensors file; the format allows 100 MB
    LIMIT_HF_JSON_BYTES = 1 << 20,       // config.json and its like
    LIMIT_HF_INDEX_BYTES = 16 << 20,     // index of a model in several files
    LIMIT_HF_TOKENIZER_BYTES = 64 << 20, // tokenizer.json
    LIMIT_HF_TOKENIZER_VALUES = 1 << 22, // JSON values in it: Gemma 3 has 1.8 million

    // The engine
    LIMIT_DEFAULT_CONTEXT = 8192, // positions, unless --context says otherwise
    LIMIT_LEAST_CONTEXT = 256,    // positions: with less room serve starts only if asked to
    LIMIT_STEP_ROWS = 64,         // rows one step may hold (serial engine)
    LIMIT_QUEUE = 64,             // requests waiting for the engine
    LIMIT_ENGINE_EVENTS = 1024,   // events not yet taken out
    LIMIT_WORKERS = 64,           // threads of the compute team
    LIMIT_ATTENTION_SEGMENT = 256, // keys in one segment of the attention plan
    LIMIT_TOP_LOGPROBS = 20,       // alternatives reported per token
    LIMIT_LOGIT_BIAS = 1024,       // entries of one request's logit_bias
    LIMIT_STOP_IDS = 64,           // stop token ids of one request
    LIMIT_STOP_STRINGS = 4,        // stop strings of one request
    LIMIT_STOP_BYTES = 1024,       // bytes of one stop string
    LIMIT_CHOICES = 128,           // answers of one request: its prompts times n
    LIMIT_CHOICES_INSIDE = 16,     // of these in the engine at a time: room for others

    // Chat templates
    LIMIT_TEMPLATE_BYTES = 1 << 20, // of one template
    LIMIT_TEMPLATE_DEPTH = 400,     // expressions, blocks and calls inside each other
    LIMIT_TEMPLATE_STEPS = 1 << 23, // nodes, items and blocks of bytes in one rendering
    LIMIT_TEMPLATE_OUTPUT_BYTES = 32 << 20, // text that it may make
    LIMIT_TEMPLATE_WORK_BYTES = 8 << 20,    // memory for a rendering of a short request,
    LIMIT_TEMPLATE_WORK_PER_BYTE = 64,      // and bytes of it for each byte of any

    // HTTP
    LIMIT_BODY_BYTES = 8 << 20,    // request body
    LIMIT_TOOL_BYTES = 1 << 20,    // body of /tokenize and its like: streams stand still
    LIMIT_ADMIN_BYTES = 16 << 10,  // body of a request of the administrator
    LIMIT_HEADER_BYTES = 32 << 10, // request line and headers together
    LIMIT_JSON_DEPTH = 64,         // nesting of a JSON body
    LIMIT_JSON_VALUES = 1 << 20, // values of a JSON body: a parsed one takes about 50 bytes
    LIMIT_READ_BYTES = 1 << 20,  // memory for what is read from a short body,
    LIMIT_READ_PER_BYTE = 16,    // and bytes of it for each byte of any
    LIMIT_MESSAGES = 4096,       // messages of one chat request
    LIMIT_CONNECTIONS = 1024,    // open connections
    LIMIT_JOBS = 256,            // requests between HTTP loop and text worker
    LIMIT_INCOMING_BYTES = 256 << 20, // of all requests that are not whole yet
    LIMIT_OUT_BYTES = 4 << 20,        // bytes a slow reader may leave unread
    LIMIT_OUTGOING_BYTES = 256 << 20, // of all replies that are not read yet
    LIMIT_PING_MS = 5000,             // silence on a stream before a comment is sent
    LIMIT_IDLE_S = 60,                // seconds a connection may stay idle
    LIMIT_DRAIN_S = 30,               // seconds that SIGTERM waits for running requests
    LIMIT_REQUEST_S = 600, // seconds that a request may take; clients wait no longer either
    LIMIT_STALL_S = 60,    // seconds that an engine with work may go without a step
    LIMIT_RETRY_AFTER_S = 3600,     // seconds that a client is told to wait, at the most
    LIMIT_API_KEYS = 64,            // keys that a server knows
    LIMIT_API_KEY_BYTES = 256,      // one of them
    LIMIT_KEY_FILE_BYTES = 1 << 20, // a file of them, comments and all
    LIMIT_ORIGINS = 64,             // origins on the CORS allow-list
    LIMIT_METRICS_BYTES = 1 << 20,  // one page of metrics
    LIMIT_KEY_NAME = 32,            // bytes of the name that stands for an API key in logs
    LIMIT_REQUEST_ID = 128,         // bytes of a client's own X-Request-Id

    // Roll-out
    LIMIT_REPLICAS = 64,            // servers of one backend
    LIMIT_REPLICA_NAME_BYTES = 128, // name or address of one, with its NUL
    LIMIT_HAPROXY_BYTES = 1 << 20,  // one answer of HAProxy: 64 servers take 20 KiB
    LIMIT_HAPROXY_COLUMNS = 250,    // of its table: 2.6 has 122
    LIMIT_HAPROXY_MS = 5000,        // milliseconds that it may be silent

    // The client
    LIMIT_PROMPT_PARTS = 64,          // parts of one prompt, without history and question
    LIMIT_EVENT_BYTES = 16 << 20,     // one server-sent event
    LIMIT_REPLY_BYTES = 64 << 20,     // one whole answer
    LIMIT_REFUSAL_BYTES = 64 << 10,   // read of an answer that is an error
    LIMIT_MODELS_BYTES = 1 << 20,     // a server's list of models
    LIMIT_CLIENT_KEY_BYTES = 4096,    // one API key
    LIMIT_PREFIX_KEY_BYTES = 256,     // one X-Prefix-Key
    LIMIT_PRICE_BYTES = 1 << 20,      // a price list
    LIMIT_PRICE_ENTRIES = 1024,       // prices in it
    LIMIT_PRICE_STEPS = 8,            // different steps of its prices
    LIMIT_USAGE_LINE_BYTES = 1 << 20, // one line of recorded usage
    LIMIT_RULE_BYTES = 1 << 16,       // a list of cache rules
    LIMIT_CACHE_RULES = 64,           // rules in it
    LIMIT_GPU_BYTES = 1 << 16,        // a list of offers of machines
    LIMIT_GPU_OFFERS = 256,           // offers in it
    LIMIT_AUDIT_BLOCKS = 8192,        // texts of one request that is audited
    LIMIT_CACHE_FACTOR = 100,         // price of cached input, times that of other input
    LIMIT_TYPED_PATH_BYTES = 1024,    // file behind a slash command, with its NUL
    LIMIT_OWN_RATE = 10000000,        // output tokens/s of one machine at full load
    LIMIT_OWN_REDUNDANCY = 1000,      // machines paid for each one that works

    // Tables of fit
    LIMIT_TABLE_BYTES = 1 << 20, // one file of data/
    LIMIT_TABLE_ROWS = 1024,     // entries in it
    LIMIT_FIT_DEVICES = 65536,   // devices asked for

    // Tracing
    LIMIT_TRACE_SPANS = 1 << 16, // spans kept per worker; later ones are counted, not kept
};

#endif
