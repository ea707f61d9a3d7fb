// Words, and the choices that get them.
#include "tests/support/reply_deal.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/reply_rig.h"

enum { WORD_BYTES = 8 };

static void draw_word(char word[WORD_BYTES], struct draw *d) {
    int n = draw_int(d, 0, 5);
    for (int k = 0; k < n; k++) word[k] = (char)draw_int(d, 'a', 'z');
    word[n] = '\0';
}

void deal_chunk(struct dealt *sum, struct draw *d) {
    char chunk[256], words[2][WORD_BYTES];
    int c[2] = {draw_int(d, 0, DEALT_CHOICES - 1), draw_int(d, 0, DEALT_CHOICES - 1)};
    for (int w = 0; w < 2; w++) {
        draw_word(words[w], d);
        strcat(sum->texts[c[w]], words[w]);
        sum->n_bytes += (int64_t)strlen(words[w]);
    }
    sum->now_ns += draw_int(d, 1, 1000);
    if (words[0][0] || words[1][0]) {
        if (sum->first_ns == 0) sum->first_ns = sum->now_ns;
        sum->last_ns = sum->now_ns;
    }
    snprintf(chunk, sizeof(chunk),
             "{'choices':[{'index':%d,'delta':{'content':'%s'}},"
             "{'index':%d,'delta':{'content':'%s'},'finish_reason':null}]}",
             c[0], words[0], c[1], words[1]);
    assert_returned(push_at(chunk, sum->now_ns), OK);
}
