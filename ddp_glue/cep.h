/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ceps: the ends of connections as iw_cm sees them.
 *
 * iw_cm relies on these rules; a violation causes a BUG or a hang in iw_cm:
 *  - a connect() that returned 0 is followed by exactly one CONNECT_REPLY;
 *    the destruction of the id waits for it;
 *  - an accept() that returned 0 is followed by exactly one ESTABLISHED. No
 *    event follows a failed accept() or a reject();
 *  - CLOSE follows one of these, once. DISCONNECT is never sent: it would keep
 *    a later iw_cm_disconnect() from closing our side;
 *  - an id whose request is undecided gets no event.
 * iw_cm can lose a CONNECT_REQUEST (no memory, listener destroyed), and then
 * the request is never accepted or rejected. Therefore iw_cm gets a number
 * instead of a pointer for a request, and a request that is not decided in
 * time is dropped.
 *
 * Lock order: socket lock -> subs_lock -> xarray of ceps; socket lock ->
 * cep->lock -> iw_cm's. qp->lock is not taken under cep->lock.
 */
#ifndef DDP_GLUE_CEP_H
#define DDP_GLUE_CEP_H

#include <mpa/negotiate.h>
#include "caller.h"
#include "hand_hello.h"
#include "types.h"

/*
 * Active:  CONNECTING -> CONNECTED -> CLOSED, or CONNECTING -> CLOSED; a
 *          second attempt, with revision 1, is made within CONNECTING
 * By hand: as active, with any number of attempts; and as Responder CONNECTING
 *          -> ACCEPTING -> CONNECTED or, when the accept fails, CONNECTING
 * Passive: REQUEST -> ACCEPTING -> CONNECTED -> CLOSED; the caller that takes
 *          the cep out of REQUEST becomes responsible for its connection.
 *          REFUSED is for a Request that iw_cm cannot carry.
 */
enum cep_state {
	IWM_CEP_CONNECTING,
	IWM_CEP_REQUEST,
	IWM_CEP_REFUSED,
	IWM_CEP_ACCEPTING,
	IWM_CEP_CONNECTED,
	IWM_CEP_CLOSED,
};

/**
 * struct cep_fallback - a second attempt to connect, with revision 1
 * @caller: the program that connects
 * @attempt: its net with a reference, and any local port: the port of the
 *	first attempt may still be in use. Its settings are those of the first
 *	attempt until it is made
 * @pd: Private Data
 */
struct cep_fallback {
	struct iwm_caller caller;
	struct mpa_attempt attempt;
	u8 pd[];
};

/**
 * struct iwm_cep - one end of a connection, as iw_cm sees it
 * @ref: references of the QP, the queued work, running calls, and in REQUEST
 *	and REFUSED the pending decision
 * @dev: device; waits for its ceps before it is freed
 * @index: in ceps; provider_data of a request
 * @work: drops an undecided request; connects a second time; checks, while
 *	CONNECTING, whether the device is being removed; ends the connection
 *	when the device is removed
 * @user: it is a program's; set when @qp is
 * @by_hand: the QP's program connects it by hand: see hand.c. iw_cm does not
 *	know this cep: @id is NULL, and no event is due
 * @hello: by hand: Private Data that the peer must send
 * @hand: by hand: what the work needs, which frees it after the end
 * @lock: guards the fields below
 * @state: enum cep_state
 * @gone: the device is being removed
 * @closed: the connection has ended while ACCEPTING, with @status
 * @retry: another attempt is due
 * @fallback: the second attempt, NULL once it has been made
 * @status: for the CLOSE event; CONNECTING: why the Reply was refused, or 0
 * @tries: by hand: attempts that have failed
 * @id: with a reference, until CLOSED
 * @qp: with a reference, until CLOSED
 * @conn: REQUEST, REFUSED, and CONNECTING by hand: undecided connection
 * @peer: the offer in the Request, or in the Reply that was refused
 */
struct iwm_cep {
	struct kref ref;
	struct iwm_dev *dev;
	unsigned long index;
	struct delayed_work work;
	bool user;
	bool by_hand;
	struct hand_hello hello;
	struct iwm_hand *hand;

	spinlock_t lock;		/* guards the rest */
	enum cep_state state;
	bool gone;
	bool closed;
	bool retry;
	struct cep_fallback *fallback;
	int status;
	u8 tries;
	struct iw_cm_id *id;
	struct iwm_qp *qp;
	struct mpa_conn *conn;
	struct mpa_offer peer;
};

/* A valid Request: @pd has @peer->pd_len octets. */
struct cep_request {
	struct mpa_conn *conn;
	const struct mpa_offer *peer;
	const void *pd;
	struct sockaddr_storage local;
	struct sockaddr_storage remote;
};

/*
 * A new cep has one reference: the caller's, or in REQUEST and REFUSED the
 * pending decision's. @work is iwm_cm_work().
 */
struct iwm_cep *iwm_cep_alloc(struct iwm_dev *dev, enum cep_state state,
			      work_func_t work, gfp_t gfp);
void iwm_cep_get(struct iwm_cep *cep);
void iwm_cep_put(struct iwm_cep *cep);

/* Any context without cep->lock; no event is sent after iwm_cep_close(). */
void iwm_cep_bind(struct iwm_cep *cep, struct iw_cm_id *id, struct iwm_qp *qp);
void iwm_cep_close(struct iwm_cep *cep);
void iwm_cep_watch(struct iwm_cep *cep);	/* once it is CONNECTING */
void iwm_cep_accepted(struct iwm_cep *cep, const struct mpa_agreed *agreed);
struct iwm_cep *iwm_cep_find_request(const struct iw_cm_id *id,
				     enum cep_state to, struct mpa_conn **conn);

/* Socket lock and subs_lock held: @listen_id stays. */
int iwm_cep_offer(struct iw_cm_id *listen_id, const struct cep_request *req,
		  work_func_t work);

/* For the work. */
void iwm_cep_drop_request(struct iwm_cep *cep);
void iwm_cep_refuse_request(struct iwm_cep *cep);
struct cep_fallback *iwm_cep_take_fallback(struct iwm_cep *cep,
					   struct iwm_qp **qp);
void iwm_cep_free_fallback(struct cep_fallback *fallback);
void iwm_cep_look_after_device(struct iwm_cep *cep);
struct iwm_qp *iwm_cep_gone_qp(struct iwm_cep *cep);

/* Queue pairs that are connected by hand. */
int iwm_cep_take_peer(struct iwm_cep *cep, struct mpa_conn *conn,
		      const struct mpa_offer *peer);
struct mpa_conn *iwm_cep_begin_answer(struct iwm_cep *cep, struct iwm_qp **qp);
void iwm_cep_answer_failed(struct iwm_cep *cep);
struct iwm_qp *iwm_cep_retry_qp(struct iwm_cep *cep);
struct iwm_qp *iwm_cep_connecting_qp(struct iwm_cep *cep);
void iwm_cep_queue(struct iwm_cep *cep, unsigned int ms);

/* Reports of QPs. Any context that does not hold qp->lock. */
int iwm_cep_check_reply(struct iwm_cep *cep, const struct mpa_offer *peer,
			const void *pd);
int iwm_cep_reply(struct iwm_cep *cep, int status, const struct mpa_offer *peer,
		  const struct mpa_agreed *agreed, const void *pd);
bool iwm_cep_retry(struct iwm_cep *cep, int status);
void iwm_cep_refuse(struct iwm_cep *cep, int status,
		    const struct mpa_offer *peer);
void iwm_cep_closed(struct iwm_cep *cep, int status);

/* The end of a device. */
void iwm_cep_dev_gone(struct iwm_dev *dev);
void iwm_cep_dev_exit(struct iwm_dev *dev);

#endif /* DDP_GLUE_CEP_H */
