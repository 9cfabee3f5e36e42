/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A connection whose early placement is under test, its stream, a consumer with
 * memory, and the steps and checks that the cases share.
 */
#ifndef KUNIT_EARLY_ENV_H
#define KUNIT_EARLY_ENV_H

#include <linux/sizes.h>
#include "buffers.h"
#include "conn.h"
#include "framer.h"

struct kunit;

#define EARLY_STREAM_SIZE	16384u
#define EARLY_FPDUS	16u
#define EARLY_NO_LIMIT	SZ_1M

/**
 * struct early_env - a connection, its stream, and a consumer with memory
 * @f: the framer of the stream
 * @stream: octets of the stream
 * @bound: index in @stream of each FPDU, and of the end
 * @seq: sequence number of the stream's first octet
 * @conn: connection under test
 * @sink: where the consumer puts payload
 * @refuse: bits of FPDUs that place() does not take
 * @forbid: bits of FPDUs for which place() says that the peer has no right
 * @placed: bits of FPDUs that place() took
 * @due: bits of FPDUs that had to be placed at some time
 * @arrived: which octets of the stream TCP has
 * @got: FPDUs delivered
 * @wrong: faults seen: wrong order, header or payload
 * @asked: place() calls
 * @batches: receive_done() calls
 * @most_runs: pieces out of order at the same time
 */
struct early_env {
	struct framer f;
	u8 *stream;
	u32 bound[EARLY_FPDUS + 1];
	u32 seq;
	struct mpa_conn *conn;
	u8 *sink;
	u64 refuse;
	u64 forbid;
	u64 placed;
	u64 due;
	u8 *arrived;
	u32 got;
	u32 wrong;
	u32 asked;
	u32 batches;
	u32 most_runs;
};

extern bool early_no_memory;
extern gfp_t early_gfp;

int early_env_init(struct kunit *test);
void early_env_exit(struct kunit *test);
void early_frame_all(struct early_env *env, u32 pos);
void early_restart_at(struct kunit *test, struct early_env *env, u32 pos, u32 window);
void early_restart(struct kunit *test, struct early_env *env);
enum mpa_error early_arrive_as(struct kunit *test, struct early_env *env, const u8 *octets,
			       u32 from, u32 to, enum shape shape);
enum mpa_error early_arrive(struct kunit *test, struct early_env *env, u32 from, u32 to);
void early_look(struct early_env *env, u32 budget);
void early_expect_due(struct early_env *env, bool exactly);
void early_expect_all(struct kunit *test, struct early_env *env, const char *what, u32 which);

#endif /* KUNIT_EARLY_ENV_H */
