/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A connection whose transmit direction is under test, over a fake TCP, and the
 * reference framer, which makes the stream that is expected.
 */
#ifndef KUNIT_TX_ENV_H
#define KUNIT_TX_ENV_H

#include <kunit/test.h>
#include "conn.h"
#include "crc_suite.h"
#include "fake_tcp.h"
#include "framer.h"

#define TX_STREAM_SIZE	(512u << 10)

/**
 * struct tx_env - a connection, and the stream that is expected of it
 * @conn: the connection under test
 * @f: the reference framer
 * @stream: the reference framer's octets
 * @ulpdu: room for one ULPDU
 * @fpdus: positions where FPDUs start in @stream
 * @num_fpdus: elements of @fpdus
 */
struct tx_env {
	struct mpa_conn *conn;
	struct framer f;
	u8 *stream;
	u8 *ulpdu;
	u32 fpdus[2048];
	u32 num_fpdus;
};

extern u32 tx_times_busy;

int tx_env_init(struct kunit *test);
void tx_env_exit(struct kunit *test);
void tx_note_busy(struct mpa_conn *conn);
void tx_start(struct tx_env *env, bool markers, bool crc, u32 emss);
u64 tx_count(const struct tx_env *env, enum mpa_stat stat);
void tx_fill(struct tx_env *env, u32 len);
int tx_write_at_once(struct tx_env *env, u32 hdr_len, u32 len, u32 piece);
void tx_write_ulpdu(struct kunit *test, struct tx_env *env, u32 len, u32 piece);
void tx_write_message(struct kunit *test, struct tx_env *env, u32 len, u32 least);
int tx_push(struct tx_env *env, bool more);
bool tx_stream_matches(const struct tx_env *env);

/* The suite of a file whose cases have a struct tx_env. */
#define tx_test_suite(_name, _cases)					\
	static struct kunit_suite suite = {				\
		.name = _name,						\
		.suite_init = crc_suite_init,				\
		.suite_exit = crc_suite_exit,				\
		.init = tx_env_init,					\
		.exit = tx_env_exit,					\
		.test_cases = (_cases),					\
	};								\
	kunit_test_suite(suite)

#endif /* KUNIT_TX_ENV_H */
