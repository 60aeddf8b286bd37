// The public interface: graphs, operators, gradients, optimizers, sessions.
#pragma once
#include "troupe/api/error.hpp"
#include "troupe/api/graph_builder.hpp"
#include "troupe/api/operators.hpp"
#include "troupe/api/ops.hpp"
#include "troupe/api/train/optimizers.hpp"
#include "troupe/api/session.hpp"
#include "troupe/runtime/version.hpp"
#include "troupe/serialization/node_times_file.hpp"
#include "troupe/serialization/trace.hpp"
