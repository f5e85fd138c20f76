module caller

go 1.24.0

require golang.org/x/net v0.49.0

require golang.org/x/text v0.33.0 // indirect
