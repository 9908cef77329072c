CREATE TABLE `agents` (
	`pk` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`tenant` text NOT NULL,
	`name` text NOT NULL,
	`definition` text NOT NULL,
	`file_hash` text,
	`tick_due_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `agents_tenant_name` ON `agents` (`tenant`,`name`);--> statement-breakpoint
CREATE INDEX `agents_tick_due` ON `agents` (`tick_due_at`);--> statement-breakpoint
CREATE TABLE `idempotency_keys` (
	`pk` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`tenant` text NOT NULL,
	`key` text NOT NULL,
	`fingerprint` text NOT NULL,
	`status` text NOT NULL,
	`owner` text,
	`lease_expires_at` integer,
	`session_pk` integer,
	`position` integer,
	`answer_status` integer,
	`answer_location` text,
	`answer_body` text,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `idempotency_keys_tenant_key` ON `idempotency_keys` (`tenant`,`key`);--> statement-breakpoint
CREATE INDEX `idempotency_keys_expires` ON `idempotency_keys` (`expires_at`);--> statement-breakpoint
CREATE TABLE `task_events` (
	`pk` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`task_pk` integer NOT NULL,
	`seq` integer NOT NULL,
	`type` text NOT NULL,
	`data` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`task_pk`) REFERENCES `tasks`(`pk`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `task_events_task_seq` ON `task_events` (`task_pk`,`seq`);--> statement-breakpoint
CREATE TABLE `tasks` (
	`pk` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`tenant` text NOT NULL,
	`id` text NOT NULL,
	`session_pk` integer NOT NULL,
	`agent` text NOT NULL,
	`kind` text NOT NULL,
	`status` text NOT NULL,
	`input` text NOT NULL,
	`turn_position` integer,
	`wait_position` integer,
	`wait_calls` text,
	`resume_input` text,
	`resume_hash` text,
	`result` text,
	`finish_reason` text,
	`error_code` text,
	`error_detail` text,
	`input_tokens` integer DEFAULT 0 NOT NULL,
	`output_tokens` integer DEFAULT 0 NOT NULL,
	`event_count` integer DEFAULT 0 NOT NULL,
	`owner` text,
	`lease_expires_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`started_at` integer,
	`finished_at` integer,
	FOREIGN KEY (`session_pk`) REFERENCES `sessions`(`pk`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `tasks_tenant_id` ON `tasks` (`tenant`,`id`);--> statement-breakpoint
CREATE INDEX `tasks_tenant_pk` ON `tasks` (`tenant`,`pk`);--> statement-breakpoint
CREATE INDEX `tasks_tenant_agent_pk` ON `tasks` (`tenant`,`agent`,`pk`);--> statement-breakpoint
CREATE INDEX `tasks_session_pk` ON `tasks` (`session_pk`,`pk`);--> statement-breakpoint
CREATE INDEX `tasks_active` ON `tasks` (`status`,`pk`) WHERE status IN ('queued', 'running');--> statement-breakpoint
ALTER TABLE `sessions` ADD `turn_owner` text;--> statement-breakpoint
ALTER TABLE `sessions` ADD `turn_expires_at` integer;--> statement-breakpoint
ALTER TABLE `sessions` ADD `turn_position` integer;--> statement-breakpoint
ALTER TABLE `sessions` ADD `carried_position` integer;--> statement-breakpoint
ALTER TABLE `sessions` ADD `auto_failures` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `sessions` ADD `auto_error` text;--> statement-breakpoint
ALTER TABLE `sessions` ADD `token_excess` integer;--> statement-breakpoint
ALTER TABLE `sessions` ADD `token_excess_revision` integer;--> statement-breakpoint
CREATE INDEX `sessions_parent` ON `sessions` (`tenant`,`parent_session_id`) WHERE parent_session_id IS NOT NULL;