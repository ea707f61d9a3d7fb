"""The commands of tools/course.py. Each takes the arguments and returns an exit status."""
from ladder import grading, pages, testing, upstream, workshop

TABLE = {
    "test": testing.command_test,
    "status": pages.command_status,
    "next": pages.command_next,
    "level": pages.command_level,
    "hint": pages.command_hint,
    "reset": workshop.command_reset,
    "compare": workshop.command_compare,
    "watch": workshop.command_watch,
    "debug": workshop.command_debug,
    "editor": workshop.command_editor,
    "link": upstream.command_link,
    "grade": grading.command_grade,
    "mutants": upstream.command_mutants,
    "starters": upstream.command_starters,
    "prove": upstream.command_prove,
}
