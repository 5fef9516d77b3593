package main

import "fmt"

// The prompts that package model knows.
const say = "bench:say-0"

func loop(n int) string   { return fmt.Sprintf("bench:loop-%d", n) }
func write(n int) string  { return fmt.Sprintf("bench:write-%d", n) }
func slow(n int) string   { return fmt.Sprintf("bench:slow-%d", n) }
func tokens(n int) string { return fmt.Sprintf("bench:stream-%d", n) }
