"""Conversations and pieces of templates, for the checks of chat templates."""

WEATHER = {"type": "function", "function": {
    "name": "get_weather", "description": "Today's weather & \"wind\" in a city <b>",
    "parameters": {"type": "object", "required": ["city"], "properties": {
        "city": {"type": "string", "description": "the city, e.g. Đà Nẵng"},
        "unit": {"type": "string", "enum": ["celsius", "fahrenheit"], "default": "celsius"},
        "days": {"type": ["integer", "null"], "minimum": 1, "maximum": 7.5}}}}}
CLOCK = {"type": "function", "function": {"name": "clock", "description": "", "parameters": {"type": "object", "properties": {}}}}


def said(*turns):
    """Turns of (role, content)."""
    return [{"role": role, "content": content} for role, content in turns]


def call(name, arguments, id="abcdef123"):
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def asked(*calls, content=None):
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


def answered(content, id="abcdef123", name="get_weather"):
    return {"role": "tool", "name": name, "tool_call_id": id, "content": content}


HELLO = said(("user", "Hello"))
LONG = said(*[(("user", "assistant")[i % 2], f"turn {i}") for i in range(41)])
PARTS = [{"role": "user", "content": [{"type": "text", "text": "  part one "}, {"type": "text", "text": "part two"}]}]
PICTURE = [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "what is it?"}]}]
CALLED = [*said(("user", "Weather in Hanoi?")), asked(call("get_weather", {"city": "Hà Nội", "days": 2})),
          answered('{"sky": "clear"}')]

CONVERSATIONS = [
    {"name": "one question", "messages": HELLO},
    {"name": "system and question", "messages": said(("system", "Be brief."), ("user", "Hello"))},
    {"name": "TPL-05 the four turns", "messages": said(("system", "You are a helpful assistant"), ("user", "Hello"),
                                                       ("assistant", "Hi there"), ("user", "Who are you"))},
    {"name": "three turns", "messages": said(("user", "Hello"), ("assistant", "Hi"), ("user", "Again"))},
    {"name": "ends with an answer", "messages": said(("user", "Hello"), ("assistant", "Hi"))},
    {"name": "TPL-04 spaces around", "messages": said(("user", "  u  "), ("assistant", "   I am an assistant   "), ("user", "\n u \n"))},
    {"name": "forty turns", "messages": LONG},
    {"name": "TPL-06 no messages", "messages": []},
    {"name": "empty question", "messages": said(("user", ""))},
    {"name": "empty system", "messages": said(("system", ""), ("user", "x"))},
    {"name": "only a system", "messages": said(("system", "s"))},
    {"name": "only an answer", "messages": said(("assistant", "a"))},
    {"name": "late system", "messages": said(("user", "u"), ("assistant", "a"), ("system", "late"), ("user", "x"))},
    {"name": "two systems", "messages": said(("system", "one"), ("system", "two"), ("user", "x"))},
    {"name": "two questions", "messages": said(("user", "one"), ("user", "two"))},
    {"name": "two answers", "messages": said(("user", "x"), ("assistant", "one"), ("assistant", "two"))},
    {"name": "an unknown role", "messages": said(("narrator", "once"), ("user", "x"))},
    {"name": "developer", "messages": said(("developer", "Be brief."), ("user", "x"))},
    {"name": "null content", "messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": None}]},
    {"name": "no content", "messages": [{"role": "user"}]},
    {"name": "no role", "messages": [{"content": "x"}]},
    {"name": "a number as content", "messages": said(("user", 3))},
    {"name": "parts", "messages": PARTS},
    {"name": "a picture", "messages": PICTURE},
    {"name": "system in parts", "messages": [{"role": "system", "content": [{"type": "text", "text": "s"}]}, *PARTS]},
    {"name": "white space only", "messages": said(("user", " \t\n "), ("assistant", "\u2003\u00a0"))},
    {"name": "unicode", "messages": said(("system", "Tiếng Việt"), ("user", "你好，世界 🙂👨‍👩‍👧‍👦 e\u0301 \u200b\ufeff"), ("assistant", "Đà Nẵng"), ("user", "\u2028"))},
    {"name": "control characters", "messages": said(("user", "a\u0000b\u0001\u001f\u007f\u0085"))},
    {"name": "line ends", "messages": said(("user", "\r\nCRLF\r\n\n"), ("assistant", "\rCR"), ("user", "\x0b\x0c"))},
    {"name": "text that looks like a template", "messages": said(("user", "{{ messages }} {% for %} {# no #}"))},
    {"name": "text that looks like markup", "messages": said(("system", "<|im_end|>\n<|im_start|>system\n"), ("user", "<|eot_id|>[/INST]<end_of_turn></s>"))},
    {"name": "quotes and slashes", "messages": said(("user", "<b>&amp;\"quotes\" 'single' \\ back</b>"))},
    {"name": "thoughts in an answer", "messages": said(("user", "x"), ("assistant", "<think>\nhm\n</think>\n\n42"), ("user", "y"), ("assistant", "<think>again</think>no"))},
    {"name": "thoughts beside an answer", "messages": [*HELLO, {"role": "assistant", "content": "42", "reasoning_content": "\nhm\n"}, *HELLO]},
    {"name": "thoughts off", "messages": HELLO, "variables": {"enable_thinking": False}},
    {"name": "thoughts on", "messages": HELLO, "variables": {"enable_thinking": True, "thinking": True}},
    {"name": "a tool to use", "messages": HELLO, "tools": [WEATHER]},
    {"name": "two tools and a system", "messages": said(("system", "s"), ("user", "x")), "tools": [WEATHER, CLOCK]},
    {"name": "tools in the system message", "messages": HELLO, "tools": [CLOCK], "variables": {"tools_in_user_message": False}},
    {"name": "no tools in the list", "messages": HELLO, "tools": []},
    {"name": "a tool was called", "messages": CALLED, "tools": [WEATHER]},
    {"name": "a tool was called, and an answer came", "messages": [*CALLED, *said(("assistant", "Clear."), ("user", "Thanks"))], "tools": [WEATHER]},
    {"name": "two calls", "messages": [*HELLO, asked(call("get_weather", {"city": "x"}), call("clock", {}, "ghijkl456"), content="I look."),
                                       answered("1"), answered("2", "ghijkl456", "clock")], "tools": [WEATHER, CLOCK]},
    {"name": "arguments as a text", "messages": [*HELLO, asked(call("clock", "{\"a\": 1}"), content=""), answered("now", name="clock")], "tools": [CLOCK]},
    {"name": "odd arguments", "messages": [*HELLO, asked(call("clock", {"n": 1.0, "m": [1e-7, 1e22, -0.5, None, True], "s": "é\"\\\n\u0001</x>"})), answered("")], "tools": [CLOCK]},
    {"name": "a result that is an object", "messages": [*HELLO, asked(call("clock", {})), answered({"h": 12, "m": [0, False]})], "tools": [CLOCK]},
    {"name": "a result without a call", "messages": [*HELLO, answered("42")]},
    {"name": "a short id of a call", "messages": [*HELLO, asked(call("clock", {}, "1")), answered("x", "1")]},
    {"name": "a date", "messages": HELLO, "variables": {"date_string": "01 Jan 2030"}},
]

# What the language offers, in pieces that can also stand behind each other.
SNIPPETS = [
    "text\n", "  indented\n", "\n", "\n\n", " ", "\t", "}}", "%}", "{ {", "é🙂",
    "{{ 1 }}", "{{- 1 }}", "{{ 1 -}}", "{{+ 1 }}", "  {{ 1 }}  \n", "{{ 'a' }}\n",
    "{# c #}", "{#- c -#}", "  {# c #}\n", "{#+ c #}\n", "{# a\nb #}\n", "{##}", "{#-#}",
    "{% set a = 1 %}", "  {% set a = 2 %}\n", "{%- set a = 3 -%}\n  ", "{%+ set a = 4 +%}\n", "{{ a }}", "{{ a is defined }}",
    "{% if a %}A{% endif %}", "  {% if not a %}\nB\n  {% else %}\nC\n  {% endif %}\n", "{% if a == 1 %}1{% elif a == 2 %}2{% elif a is defined %}d{% endif %}",
    "{% for m in messages %}{{ loop.index0 }}{{ m.role }}{{ m['content'] }}{% endfor %}",
    "{% for x in [] %}x{% else %}none{% endfor %}", "{% for k, v in {'a': 1, 'b': [2]}.items() %}{{ k }}={{ v }};{% endfor %}",
    "{% for x in range(5) if x % 2 %}{{ x }}/{{ loop.length }}{{ ',' if not loop.last }}{% endfor %}",
    "{% for x in range(9) %}{% if x == 2 %}{% continue %}{% endif %}{% if x > 4 %}{% break %}{% endif %}{{ x }}{% endfor %}",
    "{% for x in 'aé🙂' %}{{ loop.revindex }}{{ loop.previtem }}{{ loop.nextitem }}{{ loop.first }}{{ loop.cycle('p', 'q') }}{% endfor %}",
    "{% for x in [1, 2] %}{% set a = x %}{% for y in 'ab' %}{{ loop.depth }}{{ a }}{{ y }}{% endfor %}{% endfor %}",
    "{% for (a, b), c in [[[1, 2], 3]] %}{{ a + b * c }}{% endfor %}", "{% for a, b in [[1]] %}{% endfor %}", "{% for x in 3 %}{% endfor %}",
    "{% for x in none %}{% endfor %}", "{% for x in nothing %}x{% else %}e{% endfor %}", "{% break %}",
    "{% set ns = namespace(n=0, s='') %}{% for x in [3, 4] %}{% set ns.n = ns.n + x %}{% set ns.s = ns.s ~ x %}{% endfor %}{{ ns.n }}{{ ns.s }}{{ ns.zero }}",
    "{% set b %}block{{ 1 }}{% endset %}{{ b }}{{ b|length }}", "{% set b | upper | replace('B', 'x') %}ab{% endset %}{{ b }}", "{% set x, y = 1, 2 %}{{ y }}{{ x }}",
    "{% macro m(x, y='d', z=x) %}[{{ x }}{{ y }}{{ z }}]{% endmacro %}{{ m(1) }}{{ m(1, 2) }}{{ m(y=3, x=4) }}{{ m() }}{{ m.name }}",
    "{% macro m(x) %}{% if x > 0 %}{{ x }}{{ m(x - 1) }}{% endif %}{% endmacro %}{{ m(4) }}", "{% macro m() %}{{ varargs }}{% endmacro %}{{ m(1, 2) }}",
    "{% macro m(x) %}{% endmacro %}{{ m(1, 2) }}", "{% macro m(x) %}{% endmacro %}{{ m(q=2) }}", "{% macro m() %}{{ late }}{% endmacro %}{% set late = 5 %}{{ m() }}",
    "{{ dict(**{'a': 1}) }}{{ range(*[1, 4])|list }}", "{{ dict(*3) }}", "{{ dict(**3) }}",
    "{% macro w() %}<{{ caller() }}>{% endmacro %}{% call w() %}in{% endcall %}", "{% macro w() %}{{ caller(7) }}{% endmacro %}{% call(x) w() %}{{ x + 1 }}{% endcall %}",
    "{% filter upper %}f{{ 'g' }}{% endfilter %}", "{% with q = 1, r = 2 %}{{ q + r }}{% endwith %}{{ q }}", "{% generation %}g{{ 1 }}{% endgeneration %}\n",
    "{% raw %}{{ x }}{% no %}{% endraw %}\n", "{%- raw -%} \n {{ x }} {%- endraw -%} \n y", "  {% raw %}\nr\n  {% endraw %}\n", "{% print 1, 2 %}",
    "{{ 'a' 'b' \"c\" }}", "{{ 'it\\'s \\n \\t \\\\ \\x41 \\u00e9 \\U0001F642 \\q \\101' }}", "{{ \"a\nb\" }}", "{{ '{{ }}' }}", "{{ '%}' }}", "{{ {'a': {'b': 1}}['a'].b }}", "{{ {'a': {'b': 1}} }}",
    "{{ 1 + 2 * 3 - 4 // 3 % 5 }}", "{{ 7 / 2 }}", "{{ -7 // 2 }}", "{{ -7 % 3 }}", "{{ 2 ** 10 }}", "{{ 2 ** -1 }}", "{{ -2 ** 2 }}", "{{ 7.5 // 2 }}", "{{ -7.5 % 2 }}", "{{ 1 / 0 }}", "{{ 1 % 0 }}",
    "{{ 0.1 + 0.2 }}", "{{ 1e16 }}{{ 1e15 }}{{ 1e-5 }}{{ 0.0001 }}{{ 100.0 }}{{ 1.5e300 }}{{ -0.0 }}", "{{ true + 1 }}", "{{ 1 == 1.0 }}{{ true == 1 }}", "{{ 'a' * 3 }}{{ 2 * [1] }}",
    "{{ 1 < 2 < 3 }}{{ 1 < 3 < 2 }}", "{{ 'a' < 'b' }}{{ [1, 2] < [1, 3] }}", "{{ 1 < 'a' }}", "{{ none < 1 }}", "{{ 'a' + 1 }}", "{{ 'a' ~ 1 ~ none ~ [1] }}", "{{ nothing ~ 'x' }}", "{{ nothing + 'x' }}",
    "{{ 1 in [1, 2] }}{{ 'a' in 'cat' }}{{ 'k' in {'k': 1} }}{{ 3 not in (1, 2) }}", "{{ 1 in 'a' }}", "{{ 'a' in none }}", "{{ not 1 in [2] }}",
    "{{ '' or 'x' }}{{ 'a' and 0 }}{{ not '' }}{{ none or nothing }}", "{{ 'y' if 1 else 'n' }}{{ 'y' if 0 }}{{ 'a' if 0 else 'b' if 0 else 'c' }}",
    "{{ nothing }}", "{{ nothing.x }}", "{{ messages.x }}", "{{ messages[0].x }}", "{{ messages[9] }}", "{{ messages[-1].role }}", "{{ none.x }}", "{{ (1).x }}", "{{ nothing['x'] }}", "{{ nothing() }}",
    "{{ messages[0]['role'] }}{{ messages[0].get('none') }}{{ messages[0].get('x', 3) }}", "{{ messages[:1] }}", "{{ 'abcdef'[1:-1:2] }}{{ 'aé🙂d'[1:3] }}{{ 'abc'[-1] }}{{ 'abc'[::-1] }}{{ 'abc'[5:] }}",
    "{{ [1, 2, 3, 4][::-1] }}{{ [1, 2, 3][-2:] }}{{ [1, 2, 3][:-1] }}{{ (1, 2, 3)[1:] }}{{ [1, 2, 3, 4, 5][4:0:-2] }}", "{{ [1][::0] }}", "{{ [1]['a':] }}",
    "{{ (1,) }}{{ () }}{{ [] }}{{ {} }}{{ [1, 'a', 2.0, none, true, nothing, (3,)] }}", "{{ {'a\"b': \"it's\", 'c': '\"\\'', 1: none} }}", "{{ ['é\u0001\u00a0\u200b\\n\\\\'] }}",
    "{{ x is string }}{{ 'a' is string }}{{ {} is mapping }}{{ [] is iterable }}{{ 1 is number }}{{ 1.0 is float }}{{ true is integer }}{{ true is boolean }}{{ none is none }}",
    "{{ 'a' is iterable }}{{ 3 is iterable }}{{ 'a' is sequence }}{{ {} is sequence }}{{ nothing is iterable }}{{ 1 is odd }}{{ 4 is even }}{{ 9 is divisibleby 3 }}{{ 9 is divisibleby(2) }}",
    "{{ 1 is equalto 1 }}{{ 1 is eq(2) }}{{ 1 is in [1] }}{{ true is true }}{{ 1 is true }}{{ false is false }}{{ 'a' is lower }}{{ 'A' is upper }}{{ x is not defined }}{{ m is undefined }}", "{{ 1 is nosuch }}", "{{ 2 is gt 1 }}{{ 2 is le(1) }}{{ 1 is sameas 1 }}",
    "{{ '  x '|trim }}{{ 'xxax'|trim('x') }}{{ 'aB'|upper|lower }}{{ 'hello wORLD'|title }}{{ \"it's a mid-day (and {a night <x [y\tz\"|title }}{{ \"it's\".title() }}{{ 'hELLO'|capitalize }}{{ 'éÀ'|upper|lower }}", "{{ 'aXbX'|replace('X', 'y') }}{{ 'aaa'|replace('a', 'b', 2) }}{{ 'ab'|replace('', '-') }}",
    "{{ [1, 2]|join }}{{ [1, 2]|join(', ') }}{{ 'abc'|join('-') }}{{ messages|join(',', attribute='role') }}", "{{ 'abc'|length }}{{ [1]|count }}{{ {}|length }}{{ 'é🙂'|length }}{{ nothing|length }}", "{{ 3|length }}",
    "{{ nothing|default('d') }}{{ ''|default('d') }}{{ ''|default('d', true) }}{{ none|d('x') }}{{ nothing|default }}", "{{ [1, 2]|first }}{{ [1, 2]|last }}{{ []|first }}{{ 'abc'|last }}", "{{ {'b': 1, 'A': 2}|dictsort }}{{ {'b': 1, 'a': 0}|dictsort(by='value', reverse=true) }}",
    "{{ {'a': 1}|items|list }}{{ {'a': 1}.keys()|list }}{{ {'a': 1}.values()|list }}", "{{ 'ab'|list }}{{ {'k': 1}|list }}", "{{ messages|map(attribute='role')|list }}{{ ['a', 'b']|map('upper')|join }}{{ [{}]|map(attribute='x', default='y')|list }}",
    "{{ messages|selectattr('role', 'equalto', 'user')|list|length }}{{ messages|rejectattr('role', 'in', ['user'])|list|length }}{{ [1, 0, 2]|select|list }}{{ [1, 2, 3]|reject('odd')|list }}{{ messages|selectattr('tool_calls')|list }}", "{{ messages|selectattr('role', 'nosuch')|list }}",
    "{{ [3, 1, 2]|sort }}{{ ['b', 'A', 'c']|sort }}{{ ['b', 'A']|sort(case_sensitive=true) }}{{ [1, 2]|sort(reverse=true) }}{{ [{'k': 2}, {'k': 1}]|sort(attribute='k') }}", "{{ [1, 'a']|sort }}", "{{ [1, 1, 2]|unique|list }}{{ [1, 2]|sum }}{{ [3, 1]|min }}{{ [3, 1]|max }}{{ [1, 2]|reverse|list }}{{ 'ab'|reverse }}",
    "{{ '3'|int + 1 }}{{ 'x'|int }}{{ '3.7'|int }}{{ 'x'|int(5) }}{{ '1.5'|float }}{{ 3|string + 'a' }}{{ 2.5|round }}{{ 2.567|round(2) }}{{ 2.675|round(2) }}{{ -1.005|round(2) }}{{ 0.5|round }}{{ 1.5|round }}{{ 1e22|round(3) }}{{ 2.1|round(method='ceil') }}{{ -3|abs }}{{ '1a'|int(base=16) }}",
    "{{ {'a': [1, 2.5, none, true, 'é<\\n']}|tojson }}", "{{ {'a': [1, {'b': []}], 'c': {}}|tojson(indent=2) }}", "{{ 'é🙂'|tojson(ensure_ascii=true) }}", "{{ {'b': 1, 'a': 2}|tojson(sort_keys=true) }}{{ [1, 2]|tojson(separators=(',', ':')) }}", "{{ nothing|tojson }}", "{{ messages|tojson }}{{ (1, 2)|tojson }}", "{{ tools|tojson }}",
    "{{ 'a\nb\n\nc\n'|indent }}|{{ 'a\nb'|indent(2, true) }}{{ 'a\n\nb'|indent(1, blank=true) }}{{ 'x\ny'|indent('> ') }}", "{{ '<a href=\"x\">'|e }}{{ 'x'|safe }}", "{{ '%s-%d'|format('a', 3) }}{{ '%s' % 'x' }}{{ '%s %s' % (1, 2) }}{{ '100%%'|format }}", "{{ '%s' % (1, 2) }}", "{{ 1|nosuch }}", "{{ 'a b  c'|wordcount }}",
    "{{ ' x '.strip() }}{{ 'xay'.strip('xy') }}{{ ' x'.lstrip() }}{{ 'x '.rstrip() }}|{{ 'a,b,,c'.split(',') }}{{ ' a  b '.split() }}{{ 'a,b,c'.split(',', 1) }}{{ 'a,b,c'.rsplit(',', 1) }}{{ 'a b c'.split(none, 1) }}", "{{ ',a,,b,'.rsplit(',', 2) }}{{ 'a,,b'.rsplit(',', 1) }}{{ 'aaa'.rsplit('aa') }}{{ messages[0].content.rsplit('H', 1) }}", "{{ 'a\nb\r\nc'.splitlines() }}",
    "{{ 'abc'.startswith('ab') }}{{ 'abc'.endswith(('x', 'c')) }}{{ 'abc'.startswith(1) }}", "{{ 'abc'.find('c') }}{{ 'abc'.find('x') }}{{ 'abcb'.rfind('b') }}{{ 'aXbX'.replace('X', '', 1) }}{{ 'ab'.upper() }}{{ 'ab cd'.title() }}{{ 'AB'.lower() }}{{ 'aba'.count('a') }}", "{{ '-'.join(['a', 'b']) }}{{ '-'.join([1]) }}", "{{ ''.join([]) }}{{ '12'.isdigit() }}{{ 'x'.isalpha() }}{{ ' '.isspace() }}{{ 'abc'.removeprefix('a').removesuffix('c') }}",
    "{{ 'a<sep>b'.split('<sep>')[-1].lstrip('\\n') }}", "{{ 'x'.nosuch }}", "{{ 'x'.nosuch() }}", "{{ [1].append(2) }}", "{{ {'a': 1}.update({}) }}", "{{ {'items': 5}['items'] }}{{ {'items': 5}.items()|list }}", "{{ [1, 2].index(2) }}{{ (1, 1).count(1) }}",
    "{{ range(3)|list }}{{ range(1, 7, 2)|list }}{{ range(3, 0, -1)|list }}{{ range(0)|list }}", "{{ dict(a=1, b=2) }}{{ dict({'a': 1}, b=2) }}", "{{ strftime_now('%Y-%m-%d %H:%M %B %b %A %a %d %j %I %p %y %%') }}", "{{ raise_exception('stop') }}", "{% if false %}{{ raise_exception('no') }}{% endif %}",
    "{{ bos_token + 'x' + eos_token }}", "{{ add_generation_prompt }}", "{{ tools is none }}{{ tools is defined }}{{ documents }}", "{{ true }}{{ True }}{{ none }}{{ None }}{{ false }}", "{{ [1,\n 2,] }}{{ {'a': 1,} }}{{ (1, 2,) }}", "{{ loop }}", "{{ loop is defined }}", "{{ 1 if }}", "{{ }}", "{{ 1", "{% if %}", "{% endif %}", "{% if 1 %}", "{% for %}", "{% nosuch %}", "{{ 'a }}", "{# c", "{{ (1 }}", "{{ 1) }}", "{{ [1} }}", "{{ a b }}", "{{ 1 is }}", "{{ 'x'|  }}", "{% set %}", "{% set 1 = 2 %}", "{% set a.b = 2 %}", "{% raw %}", "{% macro m( %}",
    "{{ messages[0].content.strip() }}", "{{ messages[0]['content'][0] }}", "{{ messages|length - 1 }}", "{{ (messages|length - 1) - loop }}", "{{ -messages|length }}", "{{ 5 - -3 }}{{ +3 }}{{ not not 1 }}", "{{ 'a'|upper ~ 'b'|upper }}", "{{ 1|string|length is odd }}", "{{ [1, 2]|length > 1 and 'x' in 'xyz' }}", "{{ x.y if x is defined else 'no x' }}", "{{ 1_000 + 0 }}", "{{ 'é'.upper() }}{{ 'ÀÉ'|lower }}",
]
