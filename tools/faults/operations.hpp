// SPDX-License-Identifier: GPL-2.0
/** @file operations.hpp @brief The tables of what faults are put into. */
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "../common/testcase.hpp"

namespace faults {

/** What every operation gets. */
struct Context {
  std::string device = "rd0", netdev = "wire"; /**< the link and what it is on */
  std::string address = "10.8.0.1";            /**< its address: both ends are there */
  std::string modules;                         /**< folder of mpa.ko and iwmpa.ko */
};

/** Whose allocations fail. */
enum class Scope {
  Init,     /**< those of a module's initialization, in the thread that loads it */
  Thread,   /**< those that the calling thread makes in the modules */
  Anywhere, /**< those that anybody makes in the modules: workers and softirqs, too */
};

/** An operation, made ready for one fault. */
struct Attempt {
  /** The call that the fault is put into. Returns 0 or an errno value; throws Ended where that is how it may fail. */
  std::function<int()> call;
  /** Faults are over, and the call has succeeded: throws when it has not done what it says. */
  std::function<void()> succeeded = [] {};
  /** Faults are over, and the call has failed: throws when the other party does not learn of it. */
  std::function<void()> failed = [] {};
};

/** A connection that ended as one may: all that wait for something of it were told. The text says how. */
class Ended : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/** A row of the tables. */
struct Operation {
  const char* name;
  const char* what;
  Scope scope;
  bool mayFail; /**< false: it has to succeed, because nobody could do anything about a failure */
  Attempt (*prepare)(const Context&);
};

std::span<const Operation> moduleOperations();
std::span<const Operation> linkOperations();
std::span<const Operation> objectOperations();
std::span<const Operation> connectionOperations();
std::span<const Operation> socketOperations();

/** A connection, a transfer in each direction by each operation that is compared, its end. */
void transfer(const Context& c);

/** Makes and removes the link of the context. */
void addDevice(const Context& c);
void removeDevice(const Context& c);

/** Loads mpa.ko or iwmpa.ko; 0 or an errno value. */
int loadModule(const Context& c, const char* name);
/** Unloads it, waiting for references that are on their way. */
void unloadModule(const char* name);
bool moduleLoaded(const char* name);

} // namespace faults
