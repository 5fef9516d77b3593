# greet_test.sh: greet.sh must say what the README promises.
got=$(sh greet.sh Ada)
if [ "$got" = "Hello, Ada!" ]; then
    echo "ok: $got"
else
    echo "FAIL: got '$got', want 'Hello, Ada!'"
    exit 1
fi
