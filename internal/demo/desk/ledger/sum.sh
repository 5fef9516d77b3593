# sum.sh FILE: add up the amounts of a ledger.
total=0
while read -r what amount rest; do
    total=$((total + amount))
done < "$1"
echo "$total"
