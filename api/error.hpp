// The exception that every function of the public interface throws: troupe::error.
#pragma once
#include "troupe/runtime/types/error.hpp"
