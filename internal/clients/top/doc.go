// Package top shows all pods as a live table: those that need a person first.
package top
