/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Queue pairs that their programs connect by hand: the programs exchange
 * addresses and QP numbers by themselves, and call ibv_modify_qp().
 *
 * hand.c         attempts to connect, answers, and when to give up
 * hand_listen.c  the listeners, and the queue pairs that wait for their peers
 */
#ifndef DDP_GLUE_HAND_H
#define DDP_GLUE_HAND_H

#include "caller.h"
#include "hand_hello.h"
#include "types.h"

struct hand_port;

/**
 * struct iwm_hand - a queue pair that is connected by hand
 * @entry: among the queue pairs that wait for their peers (hand_lock)
 * @cep: the endpoint, which is freed later
 * @port: Responder: the listener that it shares, or NULL
 * @dgid: the peer's address
 * @local: our address, port 0
 * @remote: the peer's address, and the port of its listener
 * @hello: our Private Data
 * @self: the QP is its own peer
 * @ird: Reads that the program lets the peer have outstanding
 * @caller: the program
 */
struct iwm_hand {
	struct hlist_node entry;
	struct iwm_cep *cep;
	struct hand_port *port;
	union ib_gid dgid;
	struct sockaddr_storage local;
	struct sockaddr_storage remote;
	struct hand_hello hello;
	bool self;
	u16 ird;
	struct iwm_caller caller;
};

/* hand.c. Context: process, may sleep. */
int iwm_hand_connect(struct iwm_qp *qp, const struct ib_qp_attr *attr);

/* hand_listen.c. Context: process, may sleep. */
int iwm_hand_listen(struct iwm_hand *hand, struct net *net, int vrf);
void iwm_hand_wait(struct iwm_hand *hand);
void iwm_hand_leave(struct iwm_hand *hand);

#endif /* DDP_GLUE_HAND_H */
