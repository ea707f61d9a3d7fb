// An invoice as a JSON object.
#include "level1-user/invoice_json.h"

json_t *invoice_json_amount(int64_t amount) {
    char text[MONEY_TEXT_BYTES + 1] = "-";
    money_text(text + 1, amount < 0 ? -amount : amount, MONEY_PLACES);
    return json_string(amount < 0 ? text : text + 1);
}

json_t *invoice_json(const struct invoice *i) {
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o}", "input_usd", invoice_json_amount(i->input),
        "cached_usd", invoice_json_amount(i->cached), "cache_write_usd",
        invoice_json_amount(i->cache_write), "output_usd", invoice_json_amount(i->output),
        "total_usd", invoice_json_amount(i->total));
}
