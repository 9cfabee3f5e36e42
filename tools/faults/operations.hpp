// SPDX-License-Identifier: GPL-2.0
/** @file operations.hpp @brief The tables of operations that faults are injected into. */
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "../common/testcase.hpp"

namespace faults {

/** Parameters that every operation gets. */
struct Context {
  std::string device = "rd0", netdev = "wire"; /**< the link and its netdev */
  std::string address = "10.8.0.1";            /**< its address: both ends are there */
  std::string modules;                         /**< folder of mpa.ko and iwmpa.ko */
};

/** Selects the allocations that fail. */
enum class Scope {
  Init,     /**< those of a module's initialization, in the thread that loads it */
  Thread,   /**< those that the calling thread makes in the modules */
  Anywhere, /**< those in the modules in any context, also in workers and softirqs */
};

/** One run of an operation, prepared for one fault. */
struct Attempt {
  /** The call that gets the fault. Returns 0 or an errno value; throws Ended when the connection ended in a valid way. */
  std::function<int()> call;
  /** Called without faults after the call has succeeded: throws when the call has not had its effect. */
  std::function<void()> succeeded = [] {};
  /** Called without faults after the call has failed: throws when the peer does not get an event of the failure. */
  std::function<void()> failed = [] {};
};

/** The connection ended in a valid way: every waiter got an error or an event. The text names it. */
class Ended : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/** A row of the tables. */
struct Operation {
  const char* name;
  const char* what;
  Scope scope;
  bool mayFail; /**< false: it must succeed, because no caller could handle a failure */
  Attempt (*prepare)(const Context&);
};

std::span<const Operation> moduleOperations();
std::span<const Operation> linkOperations();
std::span<const Operation> objectOperations();
std::span<const Operation> connectionOperations();
std::span<const Operation> socketOperations();

/** Connects, transfers and compares data in each direction with each operation, and disconnects. */
void transfer(const Context& c);

/** Adds and deletes the link of the context. */
void addDevice(const Context& c);
void removeDevice(const Context& c);

/** Loads mpa.ko or iwmpa.ko; 0 or an errno value. */
int loadModule(const Context& c, const char* name);
/** Unloads it; waits for references that are about to be dropped. */
void unloadModule(const char* name);
bool moduleLoaded(const char* name);

} // namespace faults
