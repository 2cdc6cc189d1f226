#!/bin/sh
# The papers' figures with the papers' network and epsilons, three seeds, on one GPU; each goes on where it was stopped.
#
#     sh benchmarks/trainers_figures.sh LEAF.json.zip FOLDER [SECONDS]
#
# LEAF.json.zip: FEMNIST as LEAF writes it. SECONDS (600): after so long a figure is stopped, and the next one begun;
# the same command again goes on with what is missing, and is done when it says so. QUICK=--quick: one seed of ten rounds.
# JOBS (8): how many runs share the GPU. FIGURES: only these.
set -u
data="leaf:${1:?usage: sh $0 LEAF.json.zip FOLDER [SECONDS]},features=inverted"
folder=${2:?usage: sh $0 LEAF.json.zip FOLDER [SECONDS]} seconds=${3:-600} missing=0
common="--model cnn --epsilons 0.05,0.1,0.2,0.4,0.8,1.6,2,4 --seeds 3 --jobs ${JOBS:-8} --quiet ${QUICK:-}"
figures=${FIGURES:-privacy-utility finetuning rounds dpfedmtl dpfedmtl-rounds fair}
for name in $figures; do
    case $name in
        fair) own="--cohort 100" ;;
        dpfedmtl*) own="--rounds 60 --cohort 100 --learning-rate 0.1 --clip-norm 1" ;;
        *) own="--rounds 60 --cohort 100 --learning-rate 0.1 --clip-norm 0.3 --lambda 0.1" ;;
    esac
    # shellcheck disable=SC2086 # words on purpose
    timeout "$seconds" python -m dpcert experiment $name --data "$data" $common $own --out "$folder/$name"
    code=$?
    [ $code -eq 124 ] && echo "$name: stopped after $seconds s; run this again to go on" >&2
    [ $code -eq 0 ] || missing=$((missing + 1))
done
echo "$missing of $(echo "$figures" | wc -w) figures are not done" >&2
exit $((missing > 0))
