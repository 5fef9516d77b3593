#!/bin/bash
# Three nodes on one machine. Needs podd, podctl, openssl, a model, an empty directory to work in, and
# in DATABASE the URL of an empty database. `make demo-nodes` runs it with a database and a model of its own.
set -e

# Each node has a certificate of one authority, with its name as the DNS name.
openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj "/CN=my nodes" -keyout ca.key -out ca.crt 2> openssl.log
for n in 1 2 3; do
  openssl req -newkey rsa:2048 -nodes -subj "/CN=n$n" -keyout n$n.key -out n$n.csr 2>> openssl.log
  echo "subjectAltName = DNS:n$n" > n$n.ext
  openssl x509 -req -in n$n.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 30 -extfile n$n.ext -out n$n.crt 2>> openssl.log
  cat > n$n.toml <<END
ask = "never"
[store]
url = "$DATABASE"
[node]
name = "n$n"
listen = "127.0.0.1:743$n"
tls = ["$PWD/n$n.crt", "$PWD/n$n.key", "$PWD/ca.crt"]
END
done

# Three podd, each with a state directory of its own, which podctl finds by PODD_STATE_DIR.
for n in 1 2 3; do
  podd --config n$n.toml --state-dir n$n 2> n$n.log & pid[$n]=$!
  until PODD_STATE_DIR=n$n podctl status > n$n.status 2>&1; do sleep 0.2; done
done
PODD_STATE_DIR=n3 podctl nodes

# A pod that is made on n1 is written to and read from the others.
mkdir work
PODD_STATE_DIR=n1 podctl create api --dir work
PODD_STATE_DIR=n2 podctl submit -p api -f "Write a line to the file visits."
PODD_STATE_DIR=n3 podctl list
PODD_STATE_DIR=n3 podctl tail api --after 0

# When n1 is killed, the others name it. The log of its pod can be read, and the pod waits.
kill -9 ${pid[1]}
until PODD_STATE_DIR=n2 podctl nodes | grep "n1 *away"; do sleep 1; done
PODD_STATE_DIR=n2 podctl cancel api || true
PODD_STATE_DIR=n3 podctl tail api -n 3

# You know that n1 is dead, so the pod may move. n1 can then start again, and works as before, without that pod.
PODD_STATE_DIR=n3 podctl move api n2 --force
PODD_STATE_DIR=n3 podctl submit -p api -f "Write another line."
podd --config n1.toml --state-dir n1 2>> n1.log & pid[1]=$!
until PODD_STATE_DIR=n1 podctl status > n1.status 2>&1; do sleep 0.2; done
PODD_STATE_DIR=n1 podctl nodes
PODD_STATE_DIR=n1 podctl list
kill ${pid[*]}
wait
cat work/visits
