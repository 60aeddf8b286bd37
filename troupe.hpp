// The front door, so that <troupe/troupe.hpp> is found in the tree as it is when installed.
#pragma once

#include "troupe/api/troupe.hpp"
