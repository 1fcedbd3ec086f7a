#!/bin/bash
# to be done
