ALTER TABLE `sessions` ADD `compact_summary` text;--> statement-breakpoint
ALTER TABLE `sessions` ADD `compact_size` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `sessions` ADD `compact_count` real DEFAULT 50 NOT NULL;