"""Words that attack pages, scripts, spreadsheets and layouts."""

HOSTILE = (
    "<script>window.ran=1</script>",
    "</script><script>window.ran=1</script>",
    '" onmouseover="window.ran=1',
    "' onfocus='window.ran=1' autofocus x='",
    '<img src="http://evil.example/x" onerror="window.ran=1">',
    '=HYPERLINK("http://evil.example","x")',
    "@SUM(1+1)*cmd|' /C calc'!A0",
    "-1+1|cmd",
    "\u202egpj.exe",
    "{{7*7}}${7*7}<%=7*7%>",
    '<a href="javascript:window.ran=1">x</a>',
    "<!--<script>",
    "]]></svg><script>window.ran=1</script>",
    "</textarea><iframe srcdoc='<script>parent.ran=1</script>'>",
    "\\u003cscript>window.ran=1\\u003c/script>",
    "x" * 3000,
)
