ALTER TABLE "sessions" ADD COLUMN "compact_summary" text;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "compact_size" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "compact_count" double precision DEFAULT 50 NOT NULL;