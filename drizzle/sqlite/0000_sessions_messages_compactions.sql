CREATE TABLE `compactions` (
	`pk` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`session_pk` integer NOT NULL,
	`id` text NOT NULL,
	`predecessor_id` text,
	`lease_owner` text NOT NULL,
	`trigger` text NOT NULL,
	`outcome` text NOT NULL,
	`error_code` text,
	`error_detail` text,
	`from_size` integer NOT NULL,
	`to_size` integer NOT NULL,
	`compact_count` real NOT NULL,
	`keep_recent` integer NOT NULL,
	`instructions` text,
	`summary` text,
	`chars_before` integer NOT NULL,
	`chars_after` integer NOT NULL,
	`model` text NOT NULL,
	`requests` integer NOT NULL,
	`input_tokens` integer,
	`output_tokens` integer,
	`duration_ms` integer NOT NULL,
	`created_at` integer NOT NULL,
	`finished_at` integer,
	FOREIGN KEY (`session_pk`) REFERENCES `sessions`(`pk`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `compactions_id` ON `compactions` (`id`);--> statement-breakpoint
CREATE INDEX `compactions_session_pk` ON `compactions` (`session_pk`,`pk`);--> statement-breakpoint
CREATE TABLE `messages` (
	`pk` integer PRIMARY KEY NOT NULL,
	`session_pk` integer NOT NULL,
	`id` text NOT NULL,
	`seq` integer NOT NULL,
	`position` integer,
	`group_start` integer,
	`running_total` integer,
	`role` text NOT NULL,
	`tool_call_count` integer NOT NULL,
	`chars` integer NOT NULL,
	`text_bytes` integer NOT NULL,
	`created_at` integer NOT NULL,
	`body` text NOT NULL,
	FOREIGN KEY (`session_pk`) REFERENCES `sessions`(`pk`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `messages_session_seq` ON `messages` (`session_pk`,`seq`);--> statement-breakpoint
CREATE INDEX `messages_session_system` ON `messages` (`session_pk`,`seq`) WHERE position IS NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `messages_session_total` ON `messages` (`session_pk`,`running_total`,`position`);--> statement-breakpoint
CREATE TABLE `sessions` (
	`pk` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`tenant` text NOT NULL,
	`id` text NOT NULL,
	`agent` text,
	`parent_session_id` text,
	`kind` text NOT NULL,
	`status` text NOT NULL,
	`title` text,
	`metadata` text,
	`message_count` integer NOT NULL,
	`conversation_count` integer NOT NULL,
	`total_chars` integer NOT NULL,
	`input_tokens` integer NOT NULL,
	`output_tokens` integer NOT NULL,
	`revision` integer NOT NULL,
	`version` integer NOT NULL,
	`current_compaction_id` text,
	`lease_owner` text,
	`lease_expires_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`closed_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `sessions_tenant_id` ON `sessions` (`tenant`,`id`);--> statement-breakpoint
CREATE INDEX `sessions_tenant_pk` ON `sessions` (`tenant`,`pk`);--> statement-breakpoint
CREATE INDEX `sessions_tenant_agent_pk` ON `sessions` (`tenant`,`agent`,`pk`);