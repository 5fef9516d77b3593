# deploy.sh PLACE: say what would be deployed, and change nothing.
echo "would deploy version 2.4.0 to $1"
