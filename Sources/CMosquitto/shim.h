// libmosquitto, a client of MQTT brokers.
#pragma once
#include <mosquitto.h>
#include <mqtt_protocol.h>

// The values of mosq_err_t as integers, the type that the functions return.
static const int mosquitto_ok = MOSQ_ERR_SUCCESS;
static const int mosquitto_bad_value = MOSQ_ERR_INVAL;
static const int mosquitto_refused = MOSQ_ERR_CONN_REFUSED;
static const int mosquitto_connection_lost = MOSQ_ERR_CONN_LOST;
static const int mosquitto_tls_error = MOSQ_ERR_TLS;
static const int mosquitto_see_errno = MOSQ_ERR_ERRNO;
static const int mosquitto_no_address = MOSQ_ERR_EAI;
static const int mosquitto_no_answer = MOSQ_ERR_KEEPALIVE;

// Refuses to ask a terminal for the passphrase of a private key, because the service has no terminal.
static inline int mosquitto_no_passphrase(char *text, int size, int is_writing, void *client) {
  (void)text, (void)size, (void)is_writing, (void)client;
  return 0;
}
