/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A connection over a TCP socket that has no peer.
 */
#ifndef KUNIT_FAKE_CONN_H
#define KUNIT_FAKE_CONN_H

struct kunit;
struct mpa_conn;

struct mpa_conn *fake_conn_create(struct kunit *test);
void fake_conn_destroy(struct mpa_conn *conn);

#endif /* KUNIT_FAKE_CONN_H */
