package store

import (
	"podd/pkg/store/rules"
	"podd/pkg/wire"

	"go.etcd.io/bbolt"
)

// loadLineage reads the lineage of a pod; most have none.
func loadLineage(tx *bbolt.Tx, pod string) (rules.Lineage, error) {
	sealed := tx.Bucket(bucketLineages).Get([]byte(pod))
	if sealed == nil {
		return nil, nil
	}
	body, ok := wire.Unseal(bucketLineages, []byte(pod), sealed)
	if ok {
		if l, ok := rules.DecodeLineage(body); ok {
			return l, nil
		}
	}
	return nil, rules.Pod(pod)
}

func storeLineage(tx *bbolt.Tx, pod string, l rules.Lineage) error {
	key := []byte(pod)
	if err := tx.Bucket(bucketLineages).Put(key, wire.Seal(bucketLineages, key, l.Encode())); err != nil {
		return err
	}
	return share(tx, pod, l)
}

// share marks the entries of a lineage as shared by a pod.
func share(tx *bbolt.Tx, pod string, l rules.Lineage) error {
	for _, s := range l {
		key := sharerKey(s.Owner, pod)
		value := wire.Seal(bucketSharers, key, seqKey(s.UpTo))
		if err := tx.Bucket(bucketSharers).Put(key, value); err != nil {
			return err
		}
	}
	return nil
}
