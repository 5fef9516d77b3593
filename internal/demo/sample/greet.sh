# greet.sh NAME: say hello to someone.
name=${1:-world}
echo "Helo, $name!"
