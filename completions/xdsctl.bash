_xdsctl() {
    local i cur prev opts cmd
    COMPREPLY=()
    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
        cur="$2"
    else
        cur="${COMP_WORDS[COMP_CWORD]}"
    fi
    prev="$3"
    cmd=""
    opts=""

    for i in "${COMP_WORDS[@]:0:COMP_CWORD}"
    do
        case "${cmd},${i}" in
            ",$1")
                cmd="xdsctl"
                ;;
            xdsctl,admit)
                cmd="xdsctl__subcmd__admit"
                ;;
            xdsctl,clients)
                cmd="xdsctl__subcmd__clients"
                ;;
            xdsctl,completions)
                cmd="xdsctl__subcmd__completions"
                ;;
            xdsctl,config)
                cmd="xdsctl__subcmd__config"
                ;;
            xdsctl,cookie)
                cmd="xdsctl__subcmd__cookie"
                ;;
            xdsctl,diff)
                cmd="xdsctl__subcmd__diff"
                ;;
            xdsctl,explain)
                cmd="xdsctl__subcmd__explain"
                ;;
            xdsctl,fetch)
                cmd="xdsctl__subcmd__fetch"
                ;;
            xdsctl,generate)
                cmd="xdsctl__subcmd__generate"
                ;;
            xdsctl,help)
                cmd="xdsctl__subcmd__help"
                ;;
            xdsctl,init)
                cmd="xdsctl__subcmd__init"
                ;;
            xdsctl,lint)
                cmd="xdsctl__subcmd__validate"
                ;;
            xdsctl,lsp)
                cmd="xdsctl__subcmd__lsp"
                ;;
            xdsctl,mask)
                cmd="xdsctl__subcmd__mask"
                ;;
            xdsctl,pick)
                cmd="xdsctl__subcmd__pick"
                ;;
            xdsctl,policy)
                cmd="xdsctl__subcmd__policy"
                ;;
            xdsctl,retry)
                cmd="xdsctl__subcmd__retry"
                ;;
            xdsctl,route)
                cmd="xdsctl__subcmd__route"
                ;;
            xdsctl,serve)
                cmd="xdsctl__subcmd__serve"
                ;;
            xdsctl,simulate)
                cmd="xdsctl__subcmd__simulate"
                ;;
            xdsctl,test)
                cmd="xdsctl__subcmd__test"
                ;;
            xdsctl,tree)
                cmd="xdsctl__subcmd__tree"
                ;;
            xdsctl,ui)
                cmd="xdsctl__subcmd__ui"
                ;;
            xdsctl,validate)
                cmd="xdsctl__subcmd__validate"
                ;;
            xdsctl,who)
                cmd="xdsctl__subcmd__who"
                ;;
            xdsctl__subcmd__config,help)
                cmd="xdsctl__subcmd__config__subcmd__help"
                ;;
            xdsctl__subcmd__config,show)
                cmd="xdsctl__subcmd__config__subcmd__show"
                ;;
            xdsctl__subcmd__config__subcmd__help,help)
                cmd="xdsctl__subcmd__config__subcmd__help__subcmd__help"
                ;;
            xdsctl__subcmd__config__subcmd__help,show)
                cmd="xdsctl__subcmd__config__subcmd__help__subcmd__show"
                ;;
            xdsctl__subcmd__cookie,decode)
                cmd="xdsctl__subcmd__cookie__subcmd__decode"
                ;;
            xdsctl__subcmd__cookie,encode)
                cmd="xdsctl__subcmd__cookie__subcmd__encode"
                ;;
            xdsctl__subcmd__cookie,help)
                cmd="xdsctl__subcmd__cookie__subcmd__help"
                ;;
            xdsctl__subcmd__cookie__subcmd__help,decode)
                cmd="xdsctl__subcmd__cookie__subcmd__help__subcmd__decode"
                ;;
            xdsctl__subcmd__cookie__subcmd__help,encode)
                cmd="xdsctl__subcmd__cookie__subcmd__help__subcmd__encode"
                ;;
            xdsctl__subcmd__cookie__subcmd__help,help)
                cmd="xdsctl__subcmd__cookie__subcmd__help__subcmd__help"
                ;;
            xdsctl__subcmd__help,admit)
                cmd="xdsctl__subcmd__help__subcmd__admit"
                ;;
            xdsctl__subcmd__help,clients)
                cmd="xdsctl__subcmd__help__subcmd__clients"
                ;;
            xdsctl__subcmd__help,completions)
                cmd="xdsctl__subcmd__help__subcmd__completions"
                ;;
            xdsctl__subcmd__help,config)
                cmd="xdsctl__subcmd__help__subcmd__config"
                ;;
            xdsctl__subcmd__help,cookie)
                cmd="xdsctl__subcmd__help__subcmd__cookie"
                ;;
            xdsctl__subcmd__help,diff)
                cmd="xdsctl__subcmd__help__subcmd__diff"
                ;;
            xdsctl__subcmd__help,explain)
                cmd="xdsctl__subcmd__help__subcmd__explain"
                ;;
            xdsctl__subcmd__help,fetch)
                cmd="xdsctl__subcmd__help__subcmd__fetch"
                ;;
            xdsctl__subcmd__help,generate)
                cmd="xdsctl__subcmd__help__subcmd__generate"
                ;;
            xdsctl__subcmd__help,help)
                cmd="xdsctl__subcmd__help__subcmd__help"
                ;;
            xdsctl__subcmd__help,init)
                cmd="xdsctl__subcmd__help__subcmd__init"
                ;;
            xdsctl__subcmd__help,lsp)
                cmd="xdsctl__subcmd__help__subcmd__lsp"
                ;;
            xdsctl__subcmd__help,mask)
                cmd="xdsctl__subcmd__help__subcmd__mask"
                ;;
            xdsctl__subcmd__help,pick)
                cmd="xdsctl__subcmd__help__subcmd__pick"
                ;;
            xdsctl__subcmd__help,policy)
                cmd="xdsctl__subcmd__help__subcmd__policy"
                ;;
            xdsctl__subcmd__help,retry)
                cmd="xdsctl__subcmd__help__subcmd__retry"
                ;;
            xdsctl__subcmd__help,route)
                cmd="xdsctl__subcmd__help__subcmd__route"
                ;;
            xdsctl__subcmd__help,serve)
                cmd="xdsctl__subcmd__help__subcmd__serve"
                ;;
            xdsctl__subcmd__help,simulate)
                cmd="xdsctl__subcmd__help__subcmd__simulate"
                ;;
            xdsctl__subcmd__help,test)
                cmd="xdsctl__subcmd__help__subcmd__test"
                ;;
            xdsctl__subcmd__help,tree)
                cmd="xdsctl__subcmd__help__subcmd__tree"
                ;;
            xdsctl__subcmd__help,ui)
                cmd="xdsctl__subcmd__help__subcmd__ui"
                ;;
            xdsctl__subcmd__help,validate)
                cmd="xdsctl__subcmd__help__subcmd__validate"
                ;;
            xdsctl__subcmd__help,who)
                cmd="xdsctl__subcmd__help__subcmd__who"
                ;;
            xdsctl__subcmd__help__subcmd__config,show)
                cmd="xdsctl__subcmd__help__subcmd__config__subcmd__show"
                ;;
            xdsctl__subcmd__help__subcmd__cookie,decode)
                cmd="xdsctl__subcmd__help__subcmd__cookie__subcmd__decode"
                ;;
            xdsctl__subcmd__help__subcmd__cookie,encode)
                cmd="xdsctl__subcmd__help__subcmd__cookie__subcmd__encode"
                ;;
            xdsctl__subcmd__help__subcmd__policy,new)
                cmd="xdsctl__subcmd__help__subcmd__policy__subcmd__new"
                ;;
            xdsctl__subcmd__help__subcmd__policy,schema)
                cmd="xdsctl__subcmd__help__subcmd__policy__subcmd__schema"
                ;;
            xdsctl__subcmd__help__subcmd__policy,test)
                cmd="xdsctl__subcmd__help__subcmd__policy__subcmd__test"
                ;;
            xdsctl__subcmd__policy,help)
                cmd="xdsctl__subcmd__policy__subcmd__help"
                ;;
            xdsctl__subcmd__policy,new)
                cmd="xdsctl__subcmd__policy__subcmd__new"
                ;;
            xdsctl__subcmd__policy,schema)
                cmd="xdsctl__subcmd__policy__subcmd__schema"
                ;;
            xdsctl__subcmd__policy,test)
                cmd="xdsctl__subcmd__policy__subcmd__test"
                ;;
            xdsctl__subcmd__policy__subcmd__help,help)
                cmd="xdsctl__subcmd__policy__subcmd__help__subcmd__help"
                ;;
            xdsctl__subcmd__policy__subcmd__help,new)
                cmd="xdsctl__subcmd__policy__subcmd__help__subcmd__new"
                ;;
            xdsctl__subcmd__policy__subcmd__help,schema)
                cmd="xdsctl__subcmd__policy__subcmd__help__subcmd__schema"
                ;;
            xdsctl__subcmd__policy__subcmd__help,test)
                cmd="xdsctl__subcmd__policy__subcmd__help__subcmd__test"
                ;;
            *)
                ;;
        esac
    done

    case "${cmd}" in
        xdsctl)
            opts="-h -V --help --version validate lint explain clients tree route pick admit test simulate policy retry cookie init config diff who fetch serve ui lsp completions mask generate help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 1 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__admit)
            opts="-h --as --stdin-filename --bootstrap --env --with --world --merge --config --no-config --allow-read --show-secrets --node --tls --ca --cert --key --server-name --token-file --wait --max-size --retries --client --in --listen --from --to --over-tls --plaintext --certificate --san --subject --no-xds-credentials --roots --at --method --who --authority --header --unimplemented --seed --format --color --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --as)
                    COMPREPLY=($(compgen -W "lds rds cds eds bootstrap discovery-response csds config-dump any" -- "${cur}"))
                    return 0
                    ;;
                --stdin-filename)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bootstrap)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --env)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --with)
                    COMPREPLY=($(compgen -W "rls tls" -- "${cur}"))
                    return 0
                    ;;
                --world)
                    COMPREPLY=($(compgen -W "auto file dir all" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --allow-read)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ca)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cert)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --key)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --server-name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --token-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --wait)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --retries)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --client)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --in)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --listen)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --from)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --to)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --certificate)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --san)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --subject)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --roots)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --at)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --method)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --authority)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --header)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --seed)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json svg" -- "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__clients)
            opts="-h --format --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --format)
                    COMPREPLY=($(compgen -W "human json" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__completions)
            opts="-h --help bash elvish fish powershell zsh"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__config)
            opts="-h --help show help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__config__subcmd__help)
            opts="show help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__config__subcmd__help__subcmd__help)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__config__subcmd__help__subcmd__show)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__config__subcmd__show)
            opts="-h --config --no-config --allow-read --format --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --allow-read)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__cookie)
            opts="-h --help encode decode help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__cookie__subcmd__decode)
            opts="-h --format --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --format)
                    COMPREPLY=($(compgen -W "human json" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__cookie__subcmd__encode)
            opts="-h --cluster --name --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --cluster)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__cookie__subcmd__help)
            opts="encode decode help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__cookie__subcmd__help__subcmd__decode)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__cookie__subcmd__help__subcmd__encode)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__cookie__subcmd__help__subcmd__help)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__diff)
            opts="-h --as --stdin-filename --bootstrap --env --with --world --merge --config --no-config --allow-read --show-secrets --node --tls --ca --cert --key --server-name --token-file --wait --max-size --retries --client --client-from --target --authority --exit-code --fail-on --all --format --color --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --as)
                    COMPREPLY=($(compgen -W "lds rds cds eds bootstrap discovery-response csds config-dump any" -- "${cur}"))
                    return 0
                    ;;
                --stdin-filename)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bootstrap)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --env)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --with)
                    COMPREPLY=($(compgen -W "rls tls" -- "${cur}"))
                    return 0
                    ;;
                --world)
                    COMPREPLY=($(compgen -W "auto file dir all" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --allow-read)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ca)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cert)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --key)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --server-name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --token-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --wait)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --retries)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --client)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --client-from)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --target)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --authority)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --fail-on)
                    COMPREPLY=($(compgen -W "rpcs verdicts access not-checked" -- "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json github markdown" -- "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__explain)
            opts="-h --list --config --no-config --allow-read --format --help nack fails open spec dropped ignored advice any-missing any-type-url-empty any-type-url-without-slash any-undecodable typed-struct-not-json duration-out-of-range field-ignored behaviour-field-ignored security-field-ignored client-field-ignored address-port-in-text cidr-prefix-len-unset string-matcher-regex-ignore-case header-matcher-range-reversed header-matcher-range-empty metadata-type-unknown metadata-shadowed field-switched-off tls-field-superseded lb-json-list-malformed lb-json-no-known-policy lb-child-rejected nested-not-checked header-key-illegal header-value-missing header-value-not-base64 credentials-skipped grpc-service-missing grpc-service-untrusted-field rds-plugin-without-extension rds-plugin-dropped rds-plugin-unused rds-plugins-switched-off dump-syntax dump-unknown-field dump-unknown-enum-value dump-unknown-any-type dump-misspelt-type dump-any-without-type dump-duplicate-key dump-second-type dump-two-oneof-members dump-bad-value dump-limit-exceeded dump-without-resource dump-empty-response dump-unknown-shape response-wrapper-empty dump-unknown-resource-type dump-unknown-section dump-manifest-skipped dump-v2 dump-clusters-status dump-path-source-unreadable dump-missing-type dump-empty dump-not-configuration dump-template response-type-unknown response-resource-type-mismatch response-wrapper-name-differs xdstp-name-unsendable response-error-without-name response-error-without-detail lds-source-port-cut lds-policy-never-met lds-filter-chain-never-matches lds-filter-chain-shadowed lds-source-type-any-unused lds-no-filter-chain-matches hcm-filter-disabled hcm-rds-name-empty hcm-route-action-for-other-side lds-server-field-beside-api-listener lds-address-not-tcp lds-default-filter-chain-match cds-lrs-metric-unknown cds-circuit-breaker-thresholds-unread cds-circuit-breaker-zero cds-override-host-status-unsupported cds-override-host-status-empty eds-locality-without-weight eds-locality-without-endpoints eds-without-localities eds-without-endpoints eds-all-draining rds-virtual-host-without-routes rds-route-query-parameters rds-route-prefix-impossible rds-route-path-impossible rds-case-sensitive-with-regex rds-fraction-overflow rds-header-unseen-by-client rds-domain-taken rds-route-unreachable rds-cluster-weight-missing rds-cluster-name-unescaped rds-route-plugin-optional rds-cluster-weight-zero rds-share-negligible rds-auto-host-rewrite-untrusted rds-max-stream-duration-hidden rds-max-stream-duration-below-1ms rds-hash-header-name-empty rds-hash-rewrite-without-pattern rds-hash-policy-unsupported rds-retry-back-off-zero-fails rds-retry-back-off-1ms-fails rds-retry-on-unsupported rds-retry-on-misspelt rds-retry-policy-without-codes rds-num-retries-clamped resource-undecodable resource-name-empty string-matcher-empty grpc-service-not-google-grpc grpc-service-target-unresolvable grpc-service-not-allowed duration-not-positive string-matcher-without-pattern regex-not-re2 header-matcher-without-kind header-name-upper-case address-missing address-not-socket-address port-out-of-range address-not-ip address-port-unset address-port-zero metadata-audience-without-url metadata-not-json channel-credentials-missing tls-credentials-without-root tls-credentials-provider-unknown xds-credentials-without-fallback access-token-empty header-key-reserved header-value-illegal transport-socket-name tls-san-type-unsupported lds-tls-system-roots lds-tls-san-match lds-tls-no-identity lds-tls-client-certificate-without-ca lds-tls-require-sni lds-tls-ocsp-staple-policy tls-unknown-provider-instance tls-secret-not-from-provider tls-unsupported-feature tls-deprecated-provider-field lds-transport-socket-unsupported lds-listener-filters lds-network-filter-name hcm-rds-name-missing lds-filter-chain-duplicate-match lds-neither-api-listener-nor-address lds-address-not-literal lds-address-without-port lds-use-original-dst lds-no-filter-chain lds-network-filters-not-one lds-source-type-unknown lds-network-filter-unsupported hcm-xff-num-trusted-hops hcm-original-ip-detection hcm-filter-unnamed hcm-filter-name-twice hcm-filter-unsupported hcm-filter-on-wrong-side hcm-no-filter hcm-terminal-filter-not-last hcm-last-filter-not-terminal hcm-no-routes hcm-rds-not-from-ads cidr-prefix-len-too-long rbac-address-range ext-proc-body-mode-unsupported ext-proc-trailers-not-sent gcp-authn-cache-size-zero hcm-optional-filter-dropped filter-override-dropped filter-override-type-unknown filter-override-without-config fault-status-unknown rbac-header-forbidden rbac-path-missing rbac-principal-unsupported rbac-audit-logger-missing rbac-audit-logger-unknown rbac-permission-unsupported rbac-action-unknown rbac-action-log rbac-condition-unsupported rds-retry-back-off-not-positive rds-cluster-name-empty rds-weighted-clusters-empty rds-weighted-clusters-sum rds-route-plugin-unknown rds-route-specifier-unsupported rds-domains-empty rds-virtual-hosts-empty rds-domain-pattern rds-domain-second-star rds-route-action-unknown rds-num-retries-zero rds-num-retries-too-big rds-base-interval-missing rds-retry-back-off-below-1ms rds-max-interval-below-base rds-retry-back-off-too-long rds-route-without-match rds-path-specifier-unsupported rds-fraction-denominator-unknown rds-plugin-name-duplicate rds-plugin-type-unknown rls-config-missing rls-config-not-json rls-config-rejected rbac-condition-constant cds-transport-socket-matches cds-lb-policy-unsupported cds-dns-load-assignment-missing cds-dns-not-one-endpoint cds-dns-resolver-name cds-dns-name-empty cds-dns-port-unset cds-discovery-unsupported cds-eds-cluster-config-missing cds-eds-source-unsupported cds-eds-service-name-missing cds-cluster-type-unsupported cds-aggregate-empty cds-aggregate-field-unused cds-lrs-server-not-self cds-tls-sni-too-long cds-tls-without-ca cds-outlier-percentage-above-100 cds-outlier-threshold-above-100 cds-transport-socket-unsupported lb-least-request-choices lb-without-child-kills lb-other-cluster-kills eds-endpoint-weight-sum eds-endpoint-weight-zero endpoint-missing eds-endpoint-address-duplicate eds-locality-missing eds-priority-too-high eds-locality-duplicate eds-priority-gap eds-locality-weight-sum eds-drop-denominator-unknown xdstp-name-malformed bootstrap-not-json bootstrap-wrong-type bootstrap-field-missing bootstrap-without-servers bootstrap-authority-template bootstrap-unknown-key bootstrap-server-template-missing bootstrap-second-server bootstrap-server-uri-scheme bootstrap-field-switched-off dump-duplicate-resource dump-made-for-proxy dump-static-not-judged dump-endpoints-not-included dump-fault-gone suppression-unused suppression-expired suppression-malformed policy-idle baseline-stale filter-override-without-name matcher-missing matcher-too-deep matcher-empty matcher-without-action matcher-keep-matching matcher-action-unknown matcher-predicate-unknown matcher-input-unknown fault-never-injected rbac-policy-never-matches rbac-too-deep rbac-any-false rbac-prefix-len-unset rbac-header-never-seen rbac-address-unparsable rbac-port-out-of-range rbac-authenticated-crashes-tracing rbac-audit-ignored rbac-audit-condition-unknown rbac-audit-logger-dropped rbac-nobody-let-in rbac-policy-shadowed stateful-session-state-unknown stateful-session-without-cookie stateful-session-cookie-without-name stateful-session-override-empty composite-extension-unknown composite-without-matcher composite-action-empty composite-typed-config-unread composite-filter-unsupported composite-sample-without-value ext-proc-header-mode-unknown ext-proc-override-empty lb-autosharding-timeout-zero lb-json-field-missing lb-json-wrong-type lb-json-duration lb-json-empty lb-outlier-detection-percentage lb-priority-unknown lb-ring-hash-size lb-ring-hash-min-above-max lb-ring-hash-function lb-ring-hash-function-unset lb-ring-hash-capped rls-lookup-service-not-a-target rls-stale-age-alone rls-cache-size lb-custom-unusable lb-leads-back-to-cluster lb-foreign-cluster-name lb-ring-hash-below-localities lb-wrr-penalty-negative lb-wrr-metric-unknown lb-weighted-target-zero lb-wrr-locality-without-child lb-nesting-too-deep lb-entry-without-extension lb-no-supported-policy lb-config-rejected lb-entry-skipped cds-field-of-other-discovery cds-ring-maximum-below-default cds-lb-policy-superseded cds-dns-crash cds-dns-name-misread cds-dns-name-malformed cds-dns-name-changed cds-dns-port-out-of-range cds-dns-field-ignored cds-outlier-threshold-fails cds-outlier-algorithm-not-enforced cds-outlier-without-algorithm cds-upstream-config-unsupported eds-drop-category-empty eds-drop-percentage-missing eds-drop-above-all eds-drop-all eds-endpoint-unhealthy eds-endpoint-health-unsupported eds-hash-key-not-string rls-required-match rls-duplicate-key rls-duplicate-name rls-service-config bootstrap-no-known-creds bootstrap-half-key-pair bootstrap-unknown-plugin bootstrap-plugin-name-empty bootstrap-provider-without-files aggregate-too-deep aggregate-without-leaf aggregate-loop aggregate-duplicate aggregate-shared-leaf aggregate-child-missing aggregate-child-rejected lds-no-virtual-host client-defect filter-override-unused filter-override-of-other-filter lb-cluster-not-in-routes cds-outlier-detection-too-few-endpoints rds-policy-never-met lds-route-config-missing rds-cluster-missing cds-endpoints-missing reference-to-nothing reference-to-rejected reference-not-asked-for rds-ring-hash-without-hash-policy rds-hash-policy-unused server-listener-missing server-listener-api server-listener-other-address stateful-session-twice stateful-session-without-draining stateful-session-path-misses-route target-listener-missing target-listener-not-api target-without-virtual-host rds-route-config-unused cds-cluster-unused eds-endpoints-unused cds-weights-unused live-resource-rejected live-resource-missing live-resource-requested live-resource-stale live-resource-removed live-resource-updated aggregate-leaf-passed-over ext-proc-processing-mode-missing hcm-inline-routes-unsupported lds-name-without-address lds-not-one-filter-chain rbac-rule-not-applied rbac-override-empty cds-outlier-zero-interval-kills fault-denominator-unknown lds-traffic-direction lds-filter-chain-name-twice rds-hash-rewrite-throws cds-outlier-without-hosts-kills hcm-idle-timeout-of-rpcs filter-override-wrapped rbac-override-not-applied fault-percentage-missing fault-delay-without-kind lb-ring-hash-size-set lb-typed-struct-without-value lds-api-listener-empty-kills cidr-address-unreadable rds-hash-rewrite-kills rds-non-forwarding-action-kills"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --allow-read)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__fetch)
            opts="-o -q -h --output --raw --redact --partial --watch --target --delta --scope --bootstrap --env --quiet --config --no-config --allow-read --node --tls --ca --cert --key --server-name --token-file --wait --max-size --retries --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --output)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --target)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --scope)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bootstrap)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --env)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --allow-read)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ca)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cert)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --key)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --server-name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --token-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --wait)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --retries)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__generate)
            opts="-h --out --help man completions"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --out)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__help)
            opts="validate explain clients tree route pick admit test simulate policy retry cookie init config diff who fetch serve ui lsp completions mask generate help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__help__subcmd__admit)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__help__subcmd__clients)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__help__subcmd__completions)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__help__subcmd__config)
            opts="show"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__help__subcmd__config__subcmd__show)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__help__subcmd__cookie)
            opts="encode decode"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__help__subcmd__cookie__subcmd__decode)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__help__subcmd__cookie__subcmd__encode)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__help__subcmd__diff)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__help__subcmd__explain)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__help__subcmd__fetch)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__help__subcmd__generate)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__help__subcmd__help)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__help__subcmd__init)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__help__subcmd__lsp)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__help__subcmd__mask)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__help__subcmd__pick)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__help__subcmd__policy)
            opts="test new schema"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__help__subcmd__policy__subcmd__new)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__help__subcmd__policy__subcmd__schema)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__help__subcmd__policy__subcmd__test)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__help__subcmd__retry)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__help__subcmd__route)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__help__subcmd__serve)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__help__subcmd__simulate)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__help__subcmd__test)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__help__subcmd__tree)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__help__subcmd__ui)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__help__subcmd__validate)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__help__subcmd__who)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__init)
            opts="-h --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__lsp)
            opts="-h --stdio --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__mask)
            opts="-h --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__pick)
            opts="-h --as --stdin-filename --bootstrap --env --with --world --merge --config --no-config --allow-read --show-secrets --node --tls --ca --cert --key --server-name --token-file --wait --max-size --retries --client --in --target --authority --route-config --cluster --resolve --health --remove --method --header --cookie --timeout --seed --count --session --address --reachable --down --state --eject --respond --lookup --wait-for-ready --requests --max-events --explain --format --color --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --as)
                    COMPREPLY=($(compgen -W "lds rds cds eds bootstrap discovery-response csds config-dump any" -- "${cur}"))
                    return 0
                    ;;
                --stdin-filename)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bootstrap)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --env)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --with)
                    COMPREPLY=($(compgen -W "rls tls" -- "${cur}"))
                    return 0
                    ;;
                --world)
                    COMPREPLY=($(compgen -W "auto file dir all" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --allow-read)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ca)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cert)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --key)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --server-name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --token-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --wait)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --retries)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --client)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --in)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --target)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --authority)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --route-config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cluster)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --resolve)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --health)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --remove)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --method)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --header)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cookie)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --seed)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --count)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --session)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --address)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --reachable)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --down)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --state)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --eject)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --respond)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --lookup)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --requests)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-events)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json" -- "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__policy)
            opts="-h --help test new schema help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__policy__subcmd__help)
            opts="test new schema help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__policy__subcmd__help__subcmd__help)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__policy__subcmd__help__subcmd__new)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__policy__subcmd__help__subcmd__schema)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__policy__subcmd__help__subcmd__test)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__policy__subcmd__new)
            opts="-h --from --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --from)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__policy__subcmd__schema)
            opts="-h --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__policy__subcmd__test)
            opts="-q -h --config --no-config --allow-read --client --client-from --run --format --quiet --color --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --allow-read)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --client)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --client-from)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --run)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json junit sarif github gitlab markdown" -- "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__retry)
            opts="-h --as --stdin-filename --bootstrap --env --with --world --merge --config --no-config --allow-read --show-secrets --node --tls --ca --cert --key --server-name --token-file --wait --max-size --retries --client --in --target --authority --route-config --cluster --resolve --health --remove --method --header --cookie --timeout --seed --retry-on --num-retries --base-interval --max-interval --script --format --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --as)
                    COMPREPLY=($(compgen -W "lds rds cds eds bootstrap discovery-response csds config-dump any" -- "${cur}"))
                    return 0
                    ;;
                --stdin-filename)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bootstrap)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --env)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --with)
                    COMPREPLY=($(compgen -W "rls tls" -- "${cur}"))
                    return 0
                    ;;
                --world)
                    COMPREPLY=($(compgen -W "auto file dir all" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --allow-read)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ca)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cert)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --key)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --server-name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --token-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --wait)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --retries)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --client)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --in)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --target)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --authority)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --route-config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cluster)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --resolve)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --health)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --remove)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --method)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --header)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cookie)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --seed)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --retry-on)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --num-retries)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --base-interval)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-interval)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --script)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__route)
            opts="-h --as --stdin-filename --bootstrap --env --with --world --merge --config --no-config --allow-read --show-secrets --node --tls --ca --cert --key --server-name --token-file --wait --max-size --retries --client --in --target --authority --route-config --cluster --resolve --health --remove --method --header --cookie --timeout --seed --format --color --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --as)
                    COMPREPLY=($(compgen -W "lds rds cds eds bootstrap discovery-response csds config-dump any" -- "${cur}"))
                    return 0
                    ;;
                --stdin-filename)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bootstrap)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --env)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --with)
                    COMPREPLY=($(compgen -W "rls tls" -- "${cur}"))
                    return 0
                    ;;
                --world)
                    COMPREPLY=($(compgen -W "auto file dir all" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --allow-read)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ca)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cert)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --key)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --server-name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --token-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --wait)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --retries)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --client)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --in)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --target)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --authority)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --route-config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cluster)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --resolve)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --health)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --remove)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --method)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --header)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cookie)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --seed)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json" -- "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__serve)
            opts="-q -h --as --stdin-filename --bootstrap --env --with --world --merge --config --no-config --allow-read --show-secrets --node --tls --ca --cert --key --server-name --token-file --wait --max-size --retries --listen --tls-cert --tls-key --client-ca --compare --write-bootstrap --quiet --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --as)
                    COMPREPLY=($(compgen -W "lds rds cds eds bootstrap discovery-response csds config-dump any" -- "${cur}"))
                    return 0
                    ;;
                --stdin-filename)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bootstrap)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --env)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --with)
                    COMPREPLY=($(compgen -W "rls tls" -- "${cur}"))
                    return 0
                    ;;
                --world)
                    COMPREPLY=($(compgen -W "auto file dir all" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --allow-read)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ca)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cert)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --key)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --server-name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --token-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --wait)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --retries)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --listen)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --tls-cert)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --tls-key)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --client-ca)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --write-bootstrap)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__simulate)
            opts="-h --world --client --allow-read --run --until --seed --only --chart --format --max-events --max-rpcs --show-secrets --color --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --world)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --client)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --allow-read)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --run)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --until)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --seed)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --only)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human jsonl svg" -- "${cur}"))
                    return 0
                    ;;
                --max-events)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-rpcs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__test)
            opts="-q -h --world --client --allow-read --run --format --update --init --schema --record --explain --coverage --fail-under --quiet --max-events --max-rpcs --show-secrets --color --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --world)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --client)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --allow-read)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --run)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json junit sarif github gitlab markdown" -- "${cur}"))
                    return 0
                    ;;
                --fail-under)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-events)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-rpcs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__tree)
            opts="-h --as --stdin-filename --bootstrap --env --with --world --merge --config --no-config --allow-read --show-secrets --node --tls --ca --cert --key --server-name --token-file --wait --max-size --retries --client --in --target --authority --route-config --cluster --resolve --health --remove --format --layout --all --color --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --as)
                    COMPREPLY=($(compgen -W "lds rds cds eds bootstrap discovery-response csds config-dump any" -- "${cur}"))
                    return 0
                    ;;
                --stdin-filename)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bootstrap)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --env)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --with)
                    COMPREPLY=($(compgen -W "rls tls" -- "${cur}"))
                    return 0
                    ;;
                --world)
                    COMPREPLY=($(compgen -W "auto file dir all" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --allow-read)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ca)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cert)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --key)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --server-name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --token-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --wait)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --retries)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --client)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --in)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --target)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --authority)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --route-config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cluster)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --resolve)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --health)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --remove)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json dot mermaid svg" -- "${cur}"))
                    return 0
                    ;;
                --layout)
                    COMPREPLY=($(compgen -W "a75 a37" -- "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__ui)
            opts="-h --watch --port --node --tls --ca --cert --key --server-name --token-file --wait --max-size --retries --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --port)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ca)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cert)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --key)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --server-name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --token-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --wait)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --retries)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__validate)
            opts="-q -D -W -A -h --as --stdin-filename --bootstrap --env --with --world --merge --config --no-config --allow-read --show-secrets --node --tls --ca --cert --key --server-name --token-file --wait --max-size --retries --client --client-from --matrix --target --authority --listen --complete --explain-error --format --fail-on --min-severity --baseline --write-baseline --watch --fix --dry-run --diff --today --all-findings --max-findings --all --explain-suppressed --statistics --quiet --show --reach --deny --warn --allow --color --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --as)
                    COMPREPLY=($(compgen -W "lds rds cds eds bootstrap discovery-response csds config-dump any" -- "${cur}"))
                    return 0
                    ;;
                --stdin-filename)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bootstrap)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --env)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --with)
                    COMPREPLY=($(compgen -W "rls tls" -- "${cur}"))
                    return 0
                    ;;
                --world)
                    COMPREPLY=($(compgen -W "auto file dir all" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --allow-read)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ca)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cert)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --key)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --server-name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --token-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --wait)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --retries)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --client)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --client-from)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --target)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --authority)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --listen)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --explain-error)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human concise json jsonl sarif junit github gitlab markdown" -- "${cur}"))
                    return 0
                    ;;
                --fail-on)
                    COMPREPLY=($(compgen -W "error warning note not-checked cpp go java node rust" -- "${cur}"))
                    return 0
                    ;;
                --min-severity)
                    COMPREPLY=($(compgen -W "error warning note" -- "${cur}"))
                    return 0
                    ;;
                --baseline)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --write-baseline)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --today)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-findings)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --show)
                    COMPREPLY=($(compgen -W "parsed reached" -- "${cur}"))
                    return 0
                    ;;
                --reach)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --deny)
                    COMPREPLY=($(compgen -W "nack fails open spec dropped ignored advice any-missing any-type-url-empty any-type-url-without-slash any-undecodable typed-struct-not-json duration-out-of-range field-ignored behaviour-field-ignored security-field-ignored client-field-ignored address-port-in-text cidr-prefix-len-unset string-matcher-regex-ignore-case header-matcher-range-reversed header-matcher-range-empty metadata-type-unknown metadata-shadowed field-switched-off tls-field-superseded lb-json-list-malformed lb-json-no-known-policy lb-child-rejected nested-not-checked header-key-illegal header-value-missing header-value-not-base64 credentials-skipped grpc-service-missing grpc-service-untrusted-field rds-plugin-without-extension rds-plugin-dropped rds-plugin-unused rds-plugins-switched-off dump-syntax dump-unknown-field dump-unknown-enum-value dump-unknown-any-type dump-misspelt-type dump-any-without-type dump-duplicate-key dump-second-type dump-two-oneof-members dump-bad-value dump-limit-exceeded dump-without-resource dump-empty-response dump-unknown-shape response-wrapper-empty dump-unknown-resource-type dump-unknown-section dump-manifest-skipped dump-v2 dump-clusters-status dump-path-source-unreadable dump-missing-type dump-empty dump-not-configuration dump-template response-type-unknown response-resource-type-mismatch response-wrapper-name-differs xdstp-name-unsendable response-error-without-name response-error-without-detail lds-source-port-cut lds-policy-never-met lds-filter-chain-never-matches lds-filter-chain-shadowed lds-source-type-any-unused lds-no-filter-chain-matches hcm-filter-disabled hcm-rds-name-empty hcm-route-action-for-other-side lds-server-field-beside-api-listener lds-address-not-tcp lds-default-filter-chain-match cds-lrs-metric-unknown cds-circuit-breaker-thresholds-unread cds-circuit-breaker-zero cds-override-host-status-unsupported cds-override-host-status-empty eds-locality-without-weight eds-locality-without-endpoints eds-without-localities eds-without-endpoints eds-all-draining rds-virtual-host-without-routes rds-route-query-parameters rds-route-prefix-impossible rds-route-path-impossible rds-case-sensitive-with-regex rds-fraction-overflow rds-header-unseen-by-client rds-domain-taken rds-route-unreachable rds-cluster-weight-missing rds-cluster-name-unescaped rds-route-plugin-optional rds-cluster-weight-zero rds-share-negligible rds-auto-host-rewrite-untrusted rds-max-stream-duration-hidden rds-max-stream-duration-below-1ms rds-hash-header-name-empty rds-hash-rewrite-without-pattern rds-hash-policy-unsupported rds-retry-back-off-zero-fails rds-retry-back-off-1ms-fails rds-retry-on-unsupported rds-retry-on-misspelt rds-retry-policy-without-codes rds-num-retries-clamped resource-undecodable resource-name-empty string-matcher-empty grpc-service-not-google-grpc grpc-service-target-unresolvable grpc-service-not-allowed duration-not-positive string-matcher-without-pattern regex-not-re2 header-matcher-without-kind header-name-upper-case address-missing address-not-socket-address port-out-of-range address-not-ip address-port-unset address-port-zero metadata-audience-without-url metadata-not-json channel-credentials-missing tls-credentials-without-root tls-credentials-provider-unknown xds-credentials-without-fallback access-token-empty header-key-reserved header-value-illegal transport-socket-name tls-san-type-unsupported lds-tls-system-roots lds-tls-san-match lds-tls-no-identity lds-tls-client-certificate-without-ca lds-tls-require-sni lds-tls-ocsp-staple-policy tls-unknown-provider-instance tls-secret-not-from-provider tls-unsupported-feature tls-deprecated-provider-field lds-transport-socket-unsupported lds-listener-filters lds-network-filter-name hcm-rds-name-missing lds-filter-chain-duplicate-match lds-neither-api-listener-nor-address lds-address-not-literal lds-address-without-port lds-use-original-dst lds-no-filter-chain lds-network-filters-not-one lds-source-type-unknown lds-network-filter-unsupported hcm-xff-num-trusted-hops hcm-original-ip-detection hcm-filter-unnamed hcm-filter-name-twice hcm-filter-unsupported hcm-filter-on-wrong-side hcm-no-filter hcm-terminal-filter-not-last hcm-last-filter-not-terminal hcm-no-routes hcm-rds-not-from-ads cidr-prefix-len-too-long rbac-address-range ext-proc-body-mode-unsupported ext-proc-trailers-not-sent gcp-authn-cache-size-zero hcm-optional-filter-dropped filter-override-dropped filter-override-type-unknown filter-override-without-config fault-status-unknown rbac-header-forbidden rbac-path-missing rbac-principal-unsupported rbac-audit-logger-missing rbac-audit-logger-unknown rbac-permission-unsupported rbac-action-unknown rbac-action-log rbac-condition-unsupported rds-retry-back-off-not-positive rds-cluster-name-empty rds-weighted-clusters-empty rds-weighted-clusters-sum rds-route-plugin-unknown rds-route-specifier-unsupported rds-domains-empty rds-virtual-hosts-empty rds-domain-pattern rds-domain-second-star rds-route-action-unknown rds-num-retries-zero rds-num-retries-too-big rds-base-interval-missing rds-retry-back-off-below-1ms rds-max-interval-below-base rds-retry-back-off-too-long rds-route-without-match rds-path-specifier-unsupported rds-fraction-denominator-unknown rds-plugin-name-duplicate rds-plugin-type-unknown rls-config-missing rls-config-not-json rls-config-rejected rbac-condition-constant cds-transport-socket-matches cds-lb-policy-unsupported cds-dns-load-assignment-missing cds-dns-not-one-endpoint cds-dns-resolver-name cds-dns-name-empty cds-dns-port-unset cds-discovery-unsupported cds-eds-cluster-config-missing cds-eds-source-unsupported cds-eds-service-name-missing cds-cluster-type-unsupported cds-aggregate-empty cds-aggregate-field-unused cds-lrs-server-not-self cds-tls-sni-too-long cds-tls-without-ca cds-outlier-percentage-above-100 cds-outlier-threshold-above-100 cds-transport-socket-unsupported lb-least-request-choices lb-without-child-kills lb-other-cluster-kills eds-endpoint-weight-sum eds-endpoint-weight-zero endpoint-missing eds-endpoint-address-duplicate eds-locality-missing eds-priority-too-high eds-locality-duplicate eds-priority-gap eds-locality-weight-sum eds-drop-denominator-unknown xdstp-name-malformed bootstrap-not-json bootstrap-wrong-type bootstrap-field-missing bootstrap-without-servers bootstrap-authority-template bootstrap-unknown-key bootstrap-server-template-missing bootstrap-second-server bootstrap-server-uri-scheme bootstrap-field-switched-off dump-duplicate-resource dump-made-for-proxy dump-static-not-judged dump-endpoints-not-included dump-fault-gone suppression-unused suppression-expired suppression-malformed policy-idle baseline-stale filter-override-without-name matcher-missing matcher-too-deep matcher-empty matcher-without-action matcher-keep-matching matcher-action-unknown matcher-predicate-unknown matcher-input-unknown fault-never-injected rbac-policy-never-matches rbac-too-deep rbac-any-false rbac-prefix-len-unset rbac-header-never-seen rbac-address-unparsable rbac-port-out-of-range rbac-authenticated-crashes-tracing rbac-audit-ignored rbac-audit-condition-unknown rbac-audit-logger-dropped rbac-nobody-let-in rbac-policy-shadowed stateful-session-state-unknown stateful-session-without-cookie stateful-session-cookie-without-name stateful-session-override-empty composite-extension-unknown composite-without-matcher composite-action-empty composite-typed-config-unread composite-filter-unsupported composite-sample-without-value ext-proc-header-mode-unknown ext-proc-override-empty lb-autosharding-timeout-zero lb-json-field-missing lb-json-wrong-type lb-json-duration lb-json-empty lb-outlier-detection-percentage lb-priority-unknown lb-ring-hash-size lb-ring-hash-min-above-max lb-ring-hash-function lb-ring-hash-function-unset lb-ring-hash-capped rls-lookup-service-not-a-target rls-stale-age-alone rls-cache-size lb-custom-unusable lb-leads-back-to-cluster lb-foreign-cluster-name lb-ring-hash-below-localities lb-wrr-penalty-negative lb-wrr-metric-unknown lb-weighted-target-zero lb-wrr-locality-without-child lb-nesting-too-deep lb-entry-without-extension lb-no-supported-policy lb-config-rejected lb-entry-skipped cds-field-of-other-discovery cds-ring-maximum-below-default cds-lb-policy-superseded cds-dns-crash cds-dns-name-misread cds-dns-name-malformed cds-dns-name-changed cds-dns-port-out-of-range cds-dns-field-ignored cds-outlier-threshold-fails cds-outlier-algorithm-not-enforced cds-outlier-without-algorithm cds-upstream-config-unsupported eds-drop-category-empty eds-drop-percentage-missing eds-drop-above-all eds-drop-all eds-endpoint-unhealthy eds-endpoint-health-unsupported eds-hash-key-not-string rls-required-match rls-duplicate-key rls-duplicate-name rls-service-config bootstrap-no-known-creds bootstrap-half-key-pair bootstrap-unknown-plugin bootstrap-plugin-name-empty bootstrap-provider-without-files aggregate-too-deep aggregate-without-leaf aggregate-loop aggregate-duplicate aggregate-shared-leaf aggregate-child-missing aggregate-child-rejected lds-no-virtual-host client-defect filter-override-unused filter-override-of-other-filter lb-cluster-not-in-routes cds-outlier-detection-too-few-endpoints rds-policy-never-met lds-route-config-missing rds-cluster-missing cds-endpoints-missing reference-to-nothing reference-to-rejected reference-not-asked-for rds-ring-hash-without-hash-policy rds-hash-policy-unused server-listener-missing server-listener-api server-listener-other-address stateful-session-twice stateful-session-without-draining stateful-session-path-misses-route target-listener-missing target-listener-not-api target-without-virtual-host rds-route-config-unused cds-cluster-unused eds-endpoints-unused cds-weights-unused live-resource-rejected live-resource-missing live-resource-requested live-resource-stale live-resource-removed live-resource-updated aggregate-leaf-passed-over ext-proc-processing-mode-missing hcm-inline-routes-unsupported lds-name-without-address lds-not-one-filter-chain rbac-rule-not-applied rbac-override-empty cds-outlier-zero-interval-kills fault-denominator-unknown lds-traffic-direction lds-filter-chain-name-twice rds-hash-rewrite-throws cds-outlier-without-hosts-kills hcm-idle-timeout-of-rpcs filter-override-wrapped rbac-override-not-applied fault-percentage-missing fault-delay-without-kind lb-ring-hash-size-set lb-typed-struct-without-value lds-api-listener-empty-kills cidr-address-unreadable rds-hash-rewrite-kills rds-non-forwarding-action-kills" -- "${cur}"))
                    return 0
                    ;;
                -D)
                    COMPREPLY=($(compgen -W "nack fails open spec dropped ignored advice any-missing any-type-url-empty any-type-url-without-slash any-undecodable typed-struct-not-json duration-out-of-range field-ignored behaviour-field-ignored security-field-ignored client-field-ignored address-port-in-text cidr-prefix-len-unset string-matcher-regex-ignore-case header-matcher-range-reversed header-matcher-range-empty metadata-type-unknown metadata-shadowed field-switched-off tls-field-superseded lb-json-list-malformed lb-json-no-known-policy lb-child-rejected nested-not-checked header-key-illegal header-value-missing header-value-not-base64 credentials-skipped grpc-service-missing grpc-service-untrusted-field rds-plugin-without-extension rds-plugin-dropped rds-plugin-unused rds-plugins-switched-off dump-syntax dump-unknown-field dump-unknown-enum-value dump-unknown-any-type dump-misspelt-type dump-any-without-type dump-duplicate-key dump-second-type dump-two-oneof-members dump-bad-value dump-limit-exceeded dump-without-resource dump-empty-response dump-unknown-shape response-wrapper-empty dump-unknown-resource-type dump-unknown-section dump-manifest-skipped dump-v2 dump-clusters-status dump-path-source-unreadable dump-missing-type dump-empty dump-not-configuration dump-template response-type-unknown response-resource-type-mismatch response-wrapper-name-differs xdstp-name-unsendable response-error-without-name response-error-without-detail lds-source-port-cut lds-policy-never-met lds-filter-chain-never-matches lds-filter-chain-shadowed lds-source-type-any-unused lds-no-filter-chain-matches hcm-filter-disabled hcm-rds-name-empty hcm-route-action-for-other-side lds-server-field-beside-api-listener lds-address-not-tcp lds-default-filter-chain-match cds-lrs-metric-unknown cds-circuit-breaker-thresholds-unread cds-circuit-breaker-zero cds-override-host-status-unsupported cds-override-host-status-empty eds-locality-without-weight eds-locality-without-endpoints eds-without-localities eds-without-endpoints eds-all-draining rds-virtual-host-without-routes rds-route-query-parameters rds-route-prefix-impossible rds-route-path-impossible rds-case-sensitive-with-regex rds-fraction-overflow rds-header-unseen-by-client rds-domain-taken rds-route-unreachable rds-cluster-weight-missing rds-cluster-name-unescaped rds-route-plugin-optional rds-cluster-weight-zero rds-share-negligible rds-auto-host-rewrite-untrusted rds-max-stream-duration-hidden rds-max-stream-duration-below-1ms rds-hash-header-name-empty rds-hash-rewrite-without-pattern rds-hash-policy-unsupported rds-retry-back-off-zero-fails rds-retry-back-off-1ms-fails rds-retry-on-unsupported rds-retry-on-misspelt rds-retry-policy-without-codes rds-num-retries-clamped resource-undecodable resource-name-empty string-matcher-empty grpc-service-not-google-grpc grpc-service-target-unresolvable grpc-service-not-allowed duration-not-positive string-matcher-without-pattern regex-not-re2 header-matcher-without-kind header-name-upper-case address-missing address-not-socket-address port-out-of-range address-not-ip address-port-unset address-port-zero metadata-audience-without-url metadata-not-json channel-credentials-missing tls-credentials-without-root tls-credentials-provider-unknown xds-credentials-without-fallback access-token-empty header-key-reserved header-value-illegal transport-socket-name tls-san-type-unsupported lds-tls-system-roots lds-tls-san-match lds-tls-no-identity lds-tls-client-certificate-without-ca lds-tls-require-sni lds-tls-ocsp-staple-policy tls-unknown-provider-instance tls-secret-not-from-provider tls-unsupported-feature tls-deprecated-provider-field lds-transport-socket-unsupported lds-listener-filters lds-network-filter-name hcm-rds-name-missing lds-filter-chain-duplicate-match lds-neither-api-listener-nor-address lds-address-not-literal lds-address-without-port lds-use-original-dst lds-no-filter-chain lds-network-filters-not-one lds-source-type-unknown lds-network-filter-unsupported hcm-xff-num-trusted-hops hcm-original-ip-detection hcm-filter-unnamed hcm-filter-name-twice hcm-filter-unsupported hcm-filter-on-wrong-side hcm-no-filter hcm-terminal-filter-not-last hcm-last-filter-not-terminal hcm-no-routes hcm-rds-not-from-ads cidr-prefix-len-too-long rbac-address-range ext-proc-body-mode-unsupported ext-proc-trailers-not-sent gcp-authn-cache-size-zero hcm-optional-filter-dropped filter-override-dropped filter-override-type-unknown filter-override-without-config fault-status-unknown rbac-header-forbidden rbac-path-missing rbac-principal-unsupported rbac-audit-logger-missing rbac-audit-logger-unknown rbac-permission-unsupported rbac-action-unknown rbac-action-log rbac-condition-unsupported rds-retry-back-off-not-positive rds-cluster-name-empty rds-weighted-clusters-empty rds-weighted-clusters-sum rds-route-plugin-unknown rds-route-specifier-unsupported rds-domains-empty rds-virtual-hosts-empty rds-domain-pattern rds-domain-second-star rds-route-action-unknown rds-num-retries-zero rds-num-retries-too-big rds-base-interval-missing rds-retry-back-off-below-1ms rds-max-interval-below-base rds-retry-back-off-too-long rds-route-without-match rds-path-specifier-unsupported rds-fraction-denominator-unknown rds-plugin-name-duplicate rds-plugin-type-unknown rls-config-missing rls-config-not-json rls-config-rejected rbac-condition-constant cds-transport-socket-matches cds-lb-policy-unsupported cds-dns-load-assignment-missing cds-dns-not-one-endpoint cds-dns-resolver-name cds-dns-name-empty cds-dns-port-unset cds-discovery-unsupported cds-eds-cluster-config-missing cds-eds-source-unsupported cds-eds-service-name-missing cds-cluster-type-unsupported cds-aggregate-empty cds-aggregate-field-unused cds-lrs-server-not-self cds-tls-sni-too-long cds-tls-without-ca cds-outlier-percentage-above-100 cds-outlier-threshold-above-100 cds-transport-socket-unsupported lb-least-request-choices lb-without-child-kills lb-other-cluster-kills eds-endpoint-weight-sum eds-endpoint-weight-zero endpoint-missing eds-endpoint-address-duplicate eds-locality-missing eds-priority-too-high eds-locality-duplicate eds-priority-gap eds-locality-weight-sum eds-drop-denominator-unknown xdstp-name-malformed bootstrap-not-json bootstrap-wrong-type bootstrap-field-missing bootstrap-without-servers bootstrap-authority-template bootstrap-unknown-key bootstrap-server-template-missing bootstrap-second-server bootstrap-server-uri-scheme bootstrap-field-switched-off dump-duplicate-resource dump-made-for-proxy dump-static-not-judged dump-endpoints-not-included dump-fault-gone suppression-unused suppression-expired suppression-malformed policy-idle baseline-stale filter-override-without-name matcher-missing matcher-too-deep matcher-empty matcher-without-action matcher-keep-matching matcher-action-unknown matcher-predicate-unknown matcher-input-unknown fault-never-injected rbac-policy-never-matches rbac-too-deep rbac-any-false rbac-prefix-len-unset rbac-header-never-seen rbac-address-unparsable rbac-port-out-of-range rbac-authenticated-crashes-tracing rbac-audit-ignored rbac-audit-condition-unknown rbac-audit-logger-dropped rbac-nobody-let-in rbac-policy-shadowed stateful-session-state-unknown stateful-session-without-cookie stateful-session-cookie-without-name stateful-session-override-empty composite-extension-unknown composite-without-matcher composite-action-empty composite-typed-config-unread composite-filter-unsupported composite-sample-without-value ext-proc-header-mode-unknown ext-proc-override-empty lb-autosharding-timeout-zero lb-json-field-missing lb-json-wrong-type lb-json-duration lb-json-empty lb-outlier-detection-percentage lb-priority-unknown lb-ring-hash-size lb-ring-hash-min-above-max lb-ring-hash-function lb-ring-hash-function-unset lb-ring-hash-capped rls-lookup-service-not-a-target rls-stale-age-alone rls-cache-size lb-custom-unusable lb-leads-back-to-cluster lb-foreign-cluster-name lb-ring-hash-below-localities lb-wrr-penalty-negative lb-wrr-metric-unknown lb-weighted-target-zero lb-wrr-locality-without-child lb-nesting-too-deep lb-entry-without-extension lb-no-supported-policy lb-config-rejected lb-entry-skipped cds-field-of-other-discovery cds-ring-maximum-below-default cds-lb-policy-superseded cds-dns-crash cds-dns-name-misread cds-dns-name-malformed cds-dns-name-changed cds-dns-port-out-of-range cds-dns-field-ignored cds-outlier-threshold-fails cds-outlier-algorithm-not-enforced cds-outlier-without-algorithm cds-upstream-config-unsupported eds-drop-category-empty eds-drop-percentage-missing eds-drop-above-all eds-drop-all eds-endpoint-unhealthy eds-endpoint-health-unsupported eds-hash-key-not-string rls-required-match rls-duplicate-key rls-duplicate-name rls-service-config bootstrap-no-known-creds bootstrap-half-key-pair bootstrap-unknown-plugin bootstrap-plugin-name-empty bootstrap-provider-without-files aggregate-too-deep aggregate-without-leaf aggregate-loop aggregate-duplicate aggregate-shared-leaf aggregate-child-missing aggregate-child-rejected lds-no-virtual-host client-defect filter-override-unused filter-override-of-other-filter lb-cluster-not-in-routes cds-outlier-detection-too-few-endpoints rds-policy-never-met lds-route-config-missing rds-cluster-missing cds-endpoints-missing reference-to-nothing reference-to-rejected reference-not-asked-for rds-ring-hash-without-hash-policy rds-hash-policy-unused server-listener-missing server-listener-api server-listener-other-address stateful-session-twice stateful-session-without-draining stateful-session-path-misses-route target-listener-missing target-listener-not-api target-without-virtual-host rds-route-config-unused cds-cluster-unused eds-endpoints-unused cds-weights-unused live-resource-rejected live-resource-missing live-resource-requested live-resource-stale live-resource-removed live-resource-updated aggregate-leaf-passed-over ext-proc-processing-mode-missing hcm-inline-routes-unsupported lds-name-without-address lds-not-one-filter-chain rbac-rule-not-applied rbac-override-empty cds-outlier-zero-interval-kills fault-denominator-unknown lds-traffic-direction lds-filter-chain-name-twice rds-hash-rewrite-throws cds-outlier-without-hosts-kills hcm-idle-timeout-of-rpcs filter-override-wrapped rbac-override-not-applied fault-percentage-missing fault-delay-without-kind lb-ring-hash-size-set lb-typed-struct-without-value lds-api-listener-empty-kills cidr-address-unreadable rds-hash-rewrite-kills rds-non-forwarding-action-kills" -- "${cur}"))
                    return 0
                    ;;
                --warn)
                    COMPREPLY=($(compgen -W "nack fails open spec dropped ignored advice any-missing any-type-url-empty any-type-url-without-slash any-undecodable typed-struct-not-json duration-out-of-range field-ignored behaviour-field-ignored security-field-ignored client-field-ignored address-port-in-text cidr-prefix-len-unset string-matcher-regex-ignore-case header-matcher-range-reversed header-matcher-range-empty metadata-type-unknown metadata-shadowed field-switched-off tls-field-superseded lb-json-list-malformed lb-json-no-known-policy lb-child-rejected nested-not-checked header-key-illegal header-value-missing header-value-not-base64 credentials-skipped grpc-service-missing grpc-service-untrusted-field rds-plugin-without-extension rds-plugin-dropped rds-plugin-unused rds-plugins-switched-off dump-syntax dump-unknown-field dump-unknown-enum-value dump-unknown-any-type dump-misspelt-type dump-any-without-type dump-duplicate-key dump-second-type dump-two-oneof-members dump-bad-value dump-limit-exceeded dump-without-resource dump-empty-response dump-unknown-shape response-wrapper-empty dump-unknown-resource-type dump-unknown-section dump-manifest-skipped dump-v2 dump-clusters-status dump-path-source-unreadable dump-missing-type dump-empty dump-not-configuration dump-template response-type-unknown response-resource-type-mismatch response-wrapper-name-differs xdstp-name-unsendable response-error-without-name response-error-without-detail lds-source-port-cut lds-policy-never-met lds-filter-chain-never-matches lds-filter-chain-shadowed lds-source-type-any-unused lds-no-filter-chain-matches hcm-filter-disabled hcm-rds-name-empty hcm-route-action-for-other-side lds-server-field-beside-api-listener lds-address-not-tcp lds-default-filter-chain-match cds-lrs-metric-unknown cds-circuit-breaker-thresholds-unread cds-circuit-breaker-zero cds-override-host-status-unsupported cds-override-host-status-empty eds-locality-without-weight eds-locality-without-endpoints eds-without-localities eds-without-endpoints eds-all-draining rds-virtual-host-without-routes rds-route-query-parameters rds-route-prefix-impossible rds-route-path-impossible rds-case-sensitive-with-regex rds-fraction-overflow rds-header-unseen-by-client rds-domain-taken rds-route-unreachable rds-cluster-weight-missing rds-cluster-name-unescaped rds-route-plugin-optional rds-cluster-weight-zero rds-share-negligible rds-auto-host-rewrite-untrusted rds-max-stream-duration-hidden rds-max-stream-duration-below-1ms rds-hash-header-name-empty rds-hash-rewrite-without-pattern rds-hash-policy-unsupported rds-retry-back-off-zero-fails rds-retry-back-off-1ms-fails rds-retry-on-unsupported rds-retry-on-misspelt rds-retry-policy-without-codes rds-num-retries-clamped resource-undecodable resource-name-empty string-matcher-empty grpc-service-not-google-grpc grpc-service-target-unresolvable grpc-service-not-allowed duration-not-positive string-matcher-without-pattern regex-not-re2 header-matcher-without-kind header-name-upper-case address-missing address-not-socket-address port-out-of-range address-not-ip address-port-unset address-port-zero metadata-audience-without-url metadata-not-json channel-credentials-missing tls-credentials-without-root tls-credentials-provider-unknown xds-credentials-without-fallback access-token-empty header-key-reserved header-value-illegal transport-socket-name tls-san-type-unsupported lds-tls-system-roots lds-tls-san-match lds-tls-no-identity lds-tls-client-certificate-without-ca lds-tls-require-sni lds-tls-ocsp-staple-policy tls-unknown-provider-instance tls-secret-not-from-provider tls-unsupported-feature tls-deprecated-provider-field lds-transport-socket-unsupported lds-listener-filters lds-network-filter-name hcm-rds-name-missing lds-filter-chain-duplicate-match lds-neither-api-listener-nor-address lds-address-not-literal lds-address-without-port lds-use-original-dst lds-no-filter-chain lds-network-filters-not-one lds-source-type-unknown lds-network-filter-unsupported hcm-xff-num-trusted-hops hcm-original-ip-detection hcm-filter-unnamed hcm-filter-name-twice hcm-filter-unsupported hcm-filter-on-wrong-side hcm-no-filter hcm-terminal-filter-not-last hcm-last-filter-not-terminal hcm-no-routes hcm-rds-not-from-ads cidr-prefix-len-too-long rbac-address-range ext-proc-body-mode-unsupported ext-proc-trailers-not-sent gcp-authn-cache-size-zero hcm-optional-filter-dropped filter-override-dropped filter-override-type-unknown filter-override-without-config fault-status-unknown rbac-header-forbidden rbac-path-missing rbac-principal-unsupported rbac-audit-logger-missing rbac-audit-logger-unknown rbac-permission-unsupported rbac-action-unknown rbac-action-log rbac-condition-unsupported rds-retry-back-off-not-positive rds-cluster-name-empty rds-weighted-clusters-empty rds-weighted-clusters-sum rds-route-plugin-unknown rds-route-specifier-unsupported rds-domains-empty rds-virtual-hosts-empty rds-domain-pattern rds-domain-second-star rds-route-action-unknown rds-num-retries-zero rds-num-retries-too-big rds-base-interval-missing rds-retry-back-off-below-1ms rds-max-interval-below-base rds-retry-back-off-too-long rds-route-without-match rds-path-specifier-unsupported rds-fraction-denominator-unknown rds-plugin-name-duplicate rds-plugin-type-unknown rls-config-missing rls-config-not-json rls-config-rejected rbac-condition-constant cds-transport-socket-matches cds-lb-policy-unsupported cds-dns-load-assignment-missing cds-dns-not-one-endpoint cds-dns-resolver-name cds-dns-name-empty cds-dns-port-unset cds-discovery-unsupported cds-eds-cluster-config-missing cds-eds-source-unsupported cds-eds-service-name-missing cds-cluster-type-unsupported cds-aggregate-empty cds-aggregate-field-unused cds-lrs-server-not-self cds-tls-sni-too-long cds-tls-without-ca cds-outlier-percentage-above-100 cds-outlier-threshold-above-100 cds-transport-socket-unsupported lb-least-request-choices lb-without-child-kills lb-other-cluster-kills eds-endpoint-weight-sum eds-endpoint-weight-zero endpoint-missing eds-endpoint-address-duplicate eds-locality-missing eds-priority-too-high eds-locality-duplicate eds-priority-gap eds-locality-weight-sum eds-drop-denominator-unknown xdstp-name-malformed bootstrap-not-json bootstrap-wrong-type bootstrap-field-missing bootstrap-without-servers bootstrap-authority-template bootstrap-unknown-key bootstrap-server-template-missing bootstrap-second-server bootstrap-server-uri-scheme bootstrap-field-switched-off dump-duplicate-resource dump-made-for-proxy dump-static-not-judged dump-endpoints-not-included dump-fault-gone suppression-unused suppression-expired suppression-malformed policy-idle baseline-stale filter-override-without-name matcher-missing matcher-too-deep matcher-empty matcher-without-action matcher-keep-matching matcher-action-unknown matcher-predicate-unknown matcher-input-unknown fault-never-injected rbac-policy-never-matches rbac-too-deep rbac-any-false rbac-prefix-len-unset rbac-header-never-seen rbac-address-unparsable rbac-port-out-of-range rbac-authenticated-crashes-tracing rbac-audit-ignored rbac-audit-condition-unknown rbac-audit-logger-dropped rbac-nobody-let-in rbac-policy-shadowed stateful-session-state-unknown stateful-session-without-cookie stateful-session-cookie-without-name stateful-session-override-empty composite-extension-unknown composite-without-matcher composite-action-empty composite-typed-config-unread composite-filter-unsupported composite-sample-without-value ext-proc-header-mode-unknown ext-proc-override-empty lb-autosharding-timeout-zero lb-json-field-missing lb-json-wrong-type lb-json-duration lb-json-empty lb-outlier-detection-percentage lb-priority-unknown lb-ring-hash-size lb-ring-hash-min-above-max lb-ring-hash-function lb-ring-hash-function-unset lb-ring-hash-capped rls-lookup-service-not-a-target rls-stale-age-alone rls-cache-size lb-custom-unusable lb-leads-back-to-cluster lb-foreign-cluster-name lb-ring-hash-below-localities lb-wrr-penalty-negative lb-wrr-metric-unknown lb-weighted-target-zero lb-wrr-locality-without-child lb-nesting-too-deep lb-entry-without-extension lb-no-supported-policy lb-config-rejected lb-entry-skipped cds-field-of-other-discovery cds-ring-maximum-below-default cds-lb-policy-superseded cds-dns-crash cds-dns-name-misread cds-dns-name-malformed cds-dns-name-changed cds-dns-port-out-of-range cds-dns-field-ignored cds-outlier-threshold-fails cds-outlier-algorithm-not-enforced cds-outlier-without-algorithm cds-upstream-config-unsupported eds-drop-category-empty eds-drop-percentage-missing eds-drop-above-all eds-drop-all eds-endpoint-unhealthy eds-endpoint-health-unsupported eds-hash-key-not-string rls-required-match rls-duplicate-key rls-duplicate-name rls-service-config bootstrap-no-known-creds bootstrap-half-key-pair bootstrap-unknown-plugin bootstrap-plugin-name-empty bootstrap-provider-without-files aggregate-too-deep aggregate-without-leaf aggregate-loop aggregate-duplicate aggregate-shared-leaf aggregate-child-missing aggregate-child-rejected lds-no-virtual-host client-defect filter-override-unused filter-override-of-other-filter lb-cluster-not-in-routes cds-outlier-detection-too-few-endpoints rds-policy-never-met lds-route-config-missing rds-cluster-missing cds-endpoints-missing reference-to-nothing reference-to-rejected reference-not-asked-for rds-ring-hash-without-hash-policy rds-hash-policy-unused server-listener-missing server-listener-api server-listener-other-address stateful-session-twice stateful-session-without-draining stateful-session-path-misses-route target-listener-missing target-listener-not-api target-without-virtual-host rds-route-config-unused cds-cluster-unused eds-endpoints-unused cds-weights-unused live-resource-rejected live-resource-missing live-resource-requested live-resource-stale live-resource-removed live-resource-updated aggregate-leaf-passed-over ext-proc-processing-mode-missing hcm-inline-routes-unsupported lds-name-without-address lds-not-one-filter-chain rbac-rule-not-applied rbac-override-empty cds-outlier-zero-interval-kills fault-denominator-unknown lds-traffic-direction lds-filter-chain-name-twice rds-hash-rewrite-throws cds-outlier-without-hosts-kills hcm-idle-timeout-of-rpcs filter-override-wrapped rbac-override-not-applied fault-percentage-missing fault-delay-without-kind lb-ring-hash-size-set lb-typed-struct-without-value lds-api-listener-empty-kills cidr-address-unreadable rds-hash-rewrite-kills rds-non-forwarding-action-kills" -- "${cur}"))
                    return 0
                    ;;
                -W)
                    COMPREPLY=($(compgen -W "nack fails open spec dropped ignored advice any-missing any-type-url-empty any-type-url-without-slash any-undecodable typed-struct-not-json duration-out-of-range field-ignored behaviour-field-ignored security-field-ignored client-field-ignored address-port-in-text cidr-prefix-len-unset string-matcher-regex-ignore-case header-matcher-range-reversed header-matcher-range-empty metadata-type-unknown metadata-shadowed field-switched-off tls-field-superseded lb-json-list-malformed lb-json-no-known-policy lb-child-rejected nested-not-checked header-key-illegal header-value-missing header-value-not-base64 credentials-skipped grpc-service-missing grpc-service-untrusted-field rds-plugin-without-extension rds-plugin-dropped rds-plugin-unused rds-plugins-switched-off dump-syntax dump-unknown-field dump-unknown-enum-value dump-unknown-any-type dump-misspelt-type dump-any-without-type dump-duplicate-key dump-second-type dump-two-oneof-members dump-bad-value dump-limit-exceeded dump-without-resource dump-empty-response dump-unknown-shape response-wrapper-empty dump-unknown-resource-type dump-unknown-section dump-manifest-skipped dump-v2 dump-clusters-status dump-path-source-unreadable dump-missing-type dump-empty dump-not-configuration dump-template response-type-unknown response-resource-type-mismatch response-wrapper-name-differs xdstp-name-unsendable response-error-without-name response-error-without-detail lds-source-port-cut lds-policy-never-met lds-filter-chain-never-matches lds-filter-chain-shadowed lds-source-type-any-unused lds-no-filter-chain-matches hcm-filter-disabled hcm-rds-name-empty hcm-route-action-for-other-side lds-server-field-beside-api-listener lds-address-not-tcp lds-default-filter-chain-match cds-lrs-metric-unknown cds-circuit-breaker-thresholds-unread cds-circuit-breaker-zero cds-override-host-status-unsupported cds-override-host-status-empty eds-locality-without-weight eds-locality-without-endpoints eds-without-localities eds-without-endpoints eds-all-draining rds-virtual-host-without-routes rds-route-query-parameters rds-route-prefix-impossible rds-route-path-impossible rds-case-sensitive-with-regex rds-fraction-overflow rds-header-unseen-by-client rds-domain-taken rds-route-unreachable rds-cluster-weight-missing rds-cluster-name-unescaped rds-route-plugin-optional rds-cluster-weight-zero rds-share-negligible rds-auto-host-rewrite-untrusted rds-max-stream-duration-hidden rds-max-stream-duration-below-1ms rds-hash-header-name-empty rds-hash-rewrite-without-pattern rds-hash-policy-unsupported rds-retry-back-off-zero-fails rds-retry-back-off-1ms-fails rds-retry-on-unsupported rds-retry-on-misspelt rds-retry-policy-without-codes rds-num-retries-clamped resource-undecodable resource-name-empty string-matcher-empty grpc-service-not-google-grpc grpc-service-target-unresolvable grpc-service-not-allowed duration-not-positive string-matcher-without-pattern regex-not-re2 header-matcher-without-kind header-name-upper-case address-missing address-not-socket-address port-out-of-range address-not-ip address-port-unset address-port-zero metadata-audience-without-url metadata-not-json channel-credentials-missing tls-credentials-without-root tls-credentials-provider-unknown xds-credentials-without-fallback access-token-empty header-key-reserved header-value-illegal transport-socket-name tls-san-type-unsupported lds-tls-system-roots lds-tls-san-match lds-tls-no-identity lds-tls-client-certificate-without-ca lds-tls-require-sni lds-tls-ocsp-staple-policy tls-unknown-provider-instance tls-secret-not-from-provider tls-unsupported-feature tls-deprecated-provider-field lds-transport-socket-unsupported lds-listener-filters lds-network-filter-name hcm-rds-name-missing lds-filter-chain-duplicate-match lds-neither-api-listener-nor-address lds-address-not-literal lds-address-without-port lds-use-original-dst lds-no-filter-chain lds-network-filters-not-one lds-source-type-unknown lds-network-filter-unsupported hcm-xff-num-trusted-hops hcm-original-ip-detection hcm-filter-unnamed hcm-filter-name-twice hcm-filter-unsupported hcm-filter-on-wrong-side hcm-no-filter hcm-terminal-filter-not-last hcm-last-filter-not-terminal hcm-no-routes hcm-rds-not-from-ads cidr-prefix-len-too-long rbac-address-range ext-proc-body-mode-unsupported ext-proc-trailers-not-sent gcp-authn-cache-size-zero hcm-optional-filter-dropped filter-override-dropped filter-override-type-unknown filter-override-without-config fault-status-unknown rbac-header-forbidden rbac-path-missing rbac-principal-unsupported rbac-audit-logger-missing rbac-audit-logger-unknown rbac-permission-unsupported rbac-action-unknown rbac-action-log rbac-condition-unsupported rds-retry-back-off-not-positive rds-cluster-name-empty rds-weighted-clusters-empty rds-weighted-clusters-sum rds-route-plugin-unknown rds-route-specifier-unsupported rds-domains-empty rds-virtual-hosts-empty rds-domain-pattern rds-domain-second-star rds-route-action-unknown rds-num-retries-zero rds-num-retries-too-big rds-base-interval-missing rds-retry-back-off-below-1ms rds-max-interval-below-base rds-retry-back-off-too-long rds-route-without-match rds-path-specifier-unsupported rds-fraction-denominator-unknown rds-plugin-name-duplicate rds-plugin-type-unknown rls-config-missing rls-config-not-json rls-config-rejected rbac-condition-constant cds-transport-socket-matches cds-lb-policy-unsupported cds-dns-load-assignment-missing cds-dns-not-one-endpoint cds-dns-resolver-name cds-dns-name-empty cds-dns-port-unset cds-discovery-unsupported cds-eds-cluster-config-missing cds-eds-source-unsupported cds-eds-service-name-missing cds-cluster-type-unsupported cds-aggregate-empty cds-aggregate-field-unused cds-lrs-server-not-self cds-tls-sni-too-long cds-tls-without-ca cds-outlier-percentage-above-100 cds-outlier-threshold-above-100 cds-transport-socket-unsupported lb-least-request-choices lb-without-child-kills lb-other-cluster-kills eds-endpoint-weight-sum eds-endpoint-weight-zero endpoint-missing eds-endpoint-address-duplicate eds-locality-missing eds-priority-too-high eds-locality-duplicate eds-priority-gap eds-locality-weight-sum eds-drop-denominator-unknown xdstp-name-malformed bootstrap-not-json bootstrap-wrong-type bootstrap-field-missing bootstrap-without-servers bootstrap-authority-template bootstrap-unknown-key bootstrap-server-template-missing bootstrap-second-server bootstrap-server-uri-scheme bootstrap-field-switched-off dump-duplicate-resource dump-made-for-proxy dump-static-not-judged dump-endpoints-not-included dump-fault-gone suppression-unused suppression-expired suppression-malformed policy-idle baseline-stale filter-override-without-name matcher-missing matcher-too-deep matcher-empty matcher-without-action matcher-keep-matching matcher-action-unknown matcher-predicate-unknown matcher-input-unknown fault-never-injected rbac-policy-never-matches rbac-too-deep rbac-any-false rbac-prefix-len-unset rbac-header-never-seen rbac-address-unparsable rbac-port-out-of-range rbac-authenticated-crashes-tracing rbac-audit-ignored rbac-audit-condition-unknown rbac-audit-logger-dropped rbac-nobody-let-in rbac-policy-shadowed stateful-session-state-unknown stateful-session-without-cookie stateful-session-cookie-without-name stateful-session-override-empty composite-extension-unknown composite-without-matcher composite-action-empty composite-typed-config-unread composite-filter-unsupported composite-sample-without-value ext-proc-header-mode-unknown ext-proc-override-empty lb-autosharding-timeout-zero lb-json-field-missing lb-json-wrong-type lb-json-duration lb-json-empty lb-outlier-detection-percentage lb-priority-unknown lb-ring-hash-size lb-ring-hash-min-above-max lb-ring-hash-function lb-ring-hash-function-unset lb-ring-hash-capped rls-lookup-service-not-a-target rls-stale-age-alone rls-cache-size lb-custom-unusable lb-leads-back-to-cluster lb-foreign-cluster-name lb-ring-hash-below-localities lb-wrr-penalty-negative lb-wrr-metric-unknown lb-weighted-target-zero lb-wrr-locality-without-child lb-nesting-too-deep lb-entry-without-extension lb-no-supported-policy lb-config-rejected lb-entry-skipped cds-field-of-other-discovery cds-ring-maximum-below-default cds-lb-policy-superseded cds-dns-crash cds-dns-name-misread cds-dns-name-malformed cds-dns-name-changed cds-dns-port-out-of-range cds-dns-field-ignored cds-outlier-threshold-fails cds-outlier-algorithm-not-enforced cds-outlier-without-algorithm cds-upstream-config-unsupported eds-drop-category-empty eds-drop-percentage-missing eds-drop-above-all eds-drop-all eds-endpoint-unhealthy eds-endpoint-health-unsupported eds-hash-key-not-string rls-required-match rls-duplicate-key rls-duplicate-name rls-service-config bootstrap-no-known-creds bootstrap-half-key-pair bootstrap-unknown-plugin bootstrap-plugin-name-empty bootstrap-provider-without-files aggregate-too-deep aggregate-without-leaf aggregate-loop aggregate-duplicate aggregate-shared-leaf aggregate-child-missing aggregate-child-rejected lds-no-virtual-host client-defect filter-override-unused filter-override-of-other-filter lb-cluster-not-in-routes cds-outlier-detection-too-few-endpoints rds-policy-never-met lds-route-config-missing rds-cluster-missing cds-endpoints-missing reference-to-nothing reference-to-rejected reference-not-asked-for rds-ring-hash-without-hash-policy rds-hash-policy-unused server-listener-missing server-listener-api server-listener-other-address stateful-session-twice stateful-session-without-draining stateful-session-path-misses-route target-listener-missing target-listener-not-api target-without-virtual-host rds-route-config-unused cds-cluster-unused eds-endpoints-unused cds-weights-unused live-resource-rejected live-resource-missing live-resource-requested live-resource-stale live-resource-removed live-resource-updated aggregate-leaf-passed-over ext-proc-processing-mode-missing hcm-inline-routes-unsupported lds-name-without-address lds-not-one-filter-chain rbac-rule-not-applied rbac-override-empty cds-outlier-zero-interval-kills fault-denominator-unknown lds-traffic-direction lds-filter-chain-name-twice rds-hash-rewrite-throws cds-outlier-without-hosts-kills hcm-idle-timeout-of-rpcs filter-override-wrapped rbac-override-not-applied fault-percentage-missing fault-delay-without-kind lb-ring-hash-size-set lb-typed-struct-without-value lds-api-listener-empty-kills cidr-address-unreadable rds-hash-rewrite-kills rds-non-forwarding-action-kills" -- "${cur}"))
                    return 0
                    ;;
                --allow)
                    COMPREPLY=($(compgen -W "nack fails open spec dropped ignored advice any-missing any-type-url-empty any-type-url-without-slash any-undecodable typed-struct-not-json duration-out-of-range field-ignored behaviour-field-ignored security-field-ignored client-field-ignored address-port-in-text cidr-prefix-len-unset string-matcher-regex-ignore-case header-matcher-range-reversed header-matcher-range-empty metadata-type-unknown metadata-shadowed field-switched-off tls-field-superseded lb-json-list-malformed lb-json-no-known-policy lb-child-rejected nested-not-checked header-key-illegal header-value-missing header-value-not-base64 credentials-skipped grpc-service-missing grpc-service-untrusted-field rds-plugin-without-extension rds-plugin-dropped rds-plugin-unused rds-plugins-switched-off dump-syntax dump-unknown-field dump-unknown-enum-value dump-unknown-any-type dump-misspelt-type dump-any-without-type dump-duplicate-key dump-second-type dump-two-oneof-members dump-bad-value dump-limit-exceeded dump-without-resource dump-empty-response dump-unknown-shape response-wrapper-empty dump-unknown-resource-type dump-unknown-section dump-manifest-skipped dump-v2 dump-clusters-status dump-path-source-unreadable dump-missing-type dump-empty dump-not-configuration dump-template response-type-unknown response-resource-type-mismatch response-wrapper-name-differs xdstp-name-unsendable response-error-without-name response-error-without-detail lds-source-port-cut lds-policy-never-met lds-filter-chain-never-matches lds-filter-chain-shadowed lds-source-type-any-unused lds-no-filter-chain-matches hcm-filter-disabled hcm-rds-name-empty hcm-route-action-for-other-side lds-server-field-beside-api-listener lds-address-not-tcp lds-default-filter-chain-match cds-lrs-metric-unknown cds-circuit-breaker-thresholds-unread cds-circuit-breaker-zero cds-override-host-status-unsupported cds-override-host-status-empty eds-locality-without-weight eds-locality-without-endpoints eds-without-localities eds-without-endpoints eds-all-draining rds-virtual-host-without-routes rds-route-query-parameters rds-route-prefix-impossible rds-route-path-impossible rds-case-sensitive-with-regex rds-fraction-overflow rds-header-unseen-by-client rds-domain-taken rds-route-unreachable rds-cluster-weight-missing rds-cluster-name-unescaped rds-route-plugin-optional rds-cluster-weight-zero rds-share-negligible rds-auto-host-rewrite-untrusted rds-max-stream-duration-hidden rds-max-stream-duration-below-1ms rds-hash-header-name-empty rds-hash-rewrite-without-pattern rds-hash-policy-unsupported rds-retry-back-off-zero-fails rds-retry-back-off-1ms-fails rds-retry-on-unsupported rds-retry-on-misspelt rds-retry-policy-without-codes rds-num-retries-clamped resource-undecodable resource-name-empty string-matcher-empty grpc-service-not-google-grpc grpc-service-target-unresolvable grpc-service-not-allowed duration-not-positive string-matcher-without-pattern regex-not-re2 header-matcher-without-kind header-name-upper-case address-missing address-not-socket-address port-out-of-range address-not-ip address-port-unset address-port-zero metadata-audience-without-url metadata-not-json channel-credentials-missing tls-credentials-without-root tls-credentials-provider-unknown xds-credentials-without-fallback access-token-empty header-key-reserved header-value-illegal transport-socket-name tls-san-type-unsupported lds-tls-system-roots lds-tls-san-match lds-tls-no-identity lds-tls-client-certificate-without-ca lds-tls-require-sni lds-tls-ocsp-staple-policy tls-unknown-provider-instance tls-secret-not-from-provider tls-unsupported-feature tls-deprecated-provider-field lds-transport-socket-unsupported lds-listener-filters lds-network-filter-name hcm-rds-name-missing lds-filter-chain-duplicate-match lds-neither-api-listener-nor-address lds-address-not-literal lds-address-without-port lds-use-original-dst lds-no-filter-chain lds-network-filters-not-one lds-source-type-unknown lds-network-filter-unsupported hcm-xff-num-trusted-hops hcm-original-ip-detection hcm-filter-unnamed hcm-filter-name-twice hcm-filter-unsupported hcm-filter-on-wrong-side hcm-no-filter hcm-terminal-filter-not-last hcm-last-filter-not-terminal hcm-no-routes hcm-rds-not-from-ads cidr-prefix-len-too-long rbac-address-range ext-proc-body-mode-unsupported ext-proc-trailers-not-sent gcp-authn-cache-size-zero hcm-optional-filter-dropped filter-override-dropped filter-override-type-unknown filter-override-without-config fault-status-unknown rbac-header-forbidden rbac-path-missing rbac-principal-unsupported rbac-audit-logger-missing rbac-audit-logger-unknown rbac-permission-unsupported rbac-action-unknown rbac-action-log rbac-condition-unsupported rds-retry-back-off-not-positive rds-cluster-name-empty rds-weighted-clusters-empty rds-weighted-clusters-sum rds-route-plugin-unknown rds-route-specifier-unsupported rds-domains-empty rds-virtual-hosts-empty rds-domain-pattern rds-domain-second-star rds-route-action-unknown rds-num-retries-zero rds-num-retries-too-big rds-base-interval-missing rds-retry-back-off-below-1ms rds-max-interval-below-base rds-retry-back-off-too-long rds-route-without-match rds-path-specifier-unsupported rds-fraction-denominator-unknown rds-plugin-name-duplicate rds-plugin-type-unknown rls-config-missing rls-config-not-json rls-config-rejected rbac-condition-constant cds-transport-socket-matches cds-lb-policy-unsupported cds-dns-load-assignment-missing cds-dns-not-one-endpoint cds-dns-resolver-name cds-dns-name-empty cds-dns-port-unset cds-discovery-unsupported cds-eds-cluster-config-missing cds-eds-source-unsupported cds-eds-service-name-missing cds-cluster-type-unsupported cds-aggregate-empty cds-aggregate-field-unused cds-lrs-server-not-self cds-tls-sni-too-long cds-tls-without-ca cds-outlier-percentage-above-100 cds-outlier-threshold-above-100 cds-transport-socket-unsupported lb-least-request-choices lb-without-child-kills lb-other-cluster-kills eds-endpoint-weight-sum eds-endpoint-weight-zero endpoint-missing eds-endpoint-address-duplicate eds-locality-missing eds-priority-too-high eds-locality-duplicate eds-priority-gap eds-locality-weight-sum eds-drop-denominator-unknown xdstp-name-malformed bootstrap-not-json bootstrap-wrong-type bootstrap-field-missing bootstrap-without-servers bootstrap-authority-template bootstrap-unknown-key bootstrap-server-template-missing bootstrap-second-server bootstrap-server-uri-scheme bootstrap-field-switched-off dump-duplicate-resource dump-made-for-proxy dump-static-not-judged dump-endpoints-not-included dump-fault-gone suppression-unused suppression-expired suppression-malformed policy-idle baseline-stale filter-override-without-name matcher-missing matcher-too-deep matcher-empty matcher-without-action matcher-keep-matching matcher-action-unknown matcher-predicate-unknown matcher-input-unknown fault-never-injected rbac-policy-never-matches rbac-too-deep rbac-any-false rbac-prefix-len-unset rbac-header-never-seen rbac-address-unparsable rbac-port-out-of-range rbac-authenticated-crashes-tracing rbac-audit-ignored rbac-audit-condition-unknown rbac-audit-logger-dropped rbac-nobody-let-in rbac-policy-shadowed stateful-session-state-unknown stateful-session-without-cookie stateful-session-cookie-without-name stateful-session-override-empty composite-extension-unknown composite-without-matcher composite-action-empty composite-typed-config-unread composite-filter-unsupported composite-sample-without-value ext-proc-header-mode-unknown ext-proc-override-empty lb-autosharding-timeout-zero lb-json-field-missing lb-json-wrong-type lb-json-duration lb-json-empty lb-outlier-detection-percentage lb-priority-unknown lb-ring-hash-size lb-ring-hash-min-above-max lb-ring-hash-function lb-ring-hash-function-unset lb-ring-hash-capped rls-lookup-service-not-a-target rls-stale-age-alone rls-cache-size lb-custom-unusable lb-leads-back-to-cluster lb-foreign-cluster-name lb-ring-hash-below-localities lb-wrr-penalty-negative lb-wrr-metric-unknown lb-weighted-target-zero lb-wrr-locality-without-child lb-nesting-too-deep lb-entry-without-extension lb-no-supported-policy lb-config-rejected lb-entry-skipped cds-field-of-other-discovery cds-ring-maximum-below-default cds-lb-policy-superseded cds-dns-crash cds-dns-name-misread cds-dns-name-malformed cds-dns-name-changed cds-dns-port-out-of-range cds-dns-field-ignored cds-outlier-threshold-fails cds-outlier-algorithm-not-enforced cds-outlier-without-algorithm cds-upstream-config-unsupported eds-drop-category-empty eds-drop-percentage-missing eds-drop-above-all eds-drop-all eds-endpoint-unhealthy eds-endpoint-health-unsupported eds-hash-key-not-string rls-required-match rls-duplicate-key rls-duplicate-name rls-service-config bootstrap-no-known-creds bootstrap-half-key-pair bootstrap-unknown-plugin bootstrap-plugin-name-empty bootstrap-provider-without-files aggregate-too-deep aggregate-without-leaf aggregate-loop aggregate-duplicate aggregate-shared-leaf aggregate-child-missing aggregate-child-rejected lds-no-virtual-host client-defect filter-override-unused filter-override-of-other-filter lb-cluster-not-in-routes cds-outlier-detection-too-few-endpoints rds-policy-never-met lds-route-config-missing rds-cluster-missing cds-endpoints-missing reference-to-nothing reference-to-rejected reference-not-asked-for rds-ring-hash-without-hash-policy rds-hash-policy-unused server-listener-missing server-listener-api server-listener-other-address stateful-session-twice stateful-session-without-draining stateful-session-path-misses-route target-listener-missing target-listener-not-api target-without-virtual-host rds-route-config-unused cds-cluster-unused eds-endpoints-unused cds-weights-unused live-resource-rejected live-resource-missing live-resource-requested live-resource-stale live-resource-removed live-resource-updated aggregate-leaf-passed-over ext-proc-processing-mode-missing hcm-inline-routes-unsupported lds-name-without-address lds-not-one-filter-chain rbac-rule-not-applied rbac-override-empty cds-outlier-zero-interval-kills fault-denominator-unknown lds-traffic-direction lds-filter-chain-name-twice rds-hash-rewrite-throws cds-outlier-without-hosts-kills hcm-idle-timeout-of-rpcs filter-override-wrapped rbac-override-not-applied fault-percentage-missing fault-delay-without-kind lb-ring-hash-size-set lb-typed-struct-without-value lds-api-listener-empty-kills cidr-address-unreadable rds-hash-rewrite-kills rds-non-forwarding-action-kills" -- "${cur}"))
                    return 0
                    ;;
                -A)
                    COMPREPLY=($(compgen -W "nack fails open spec dropped ignored advice any-missing any-type-url-empty any-type-url-without-slash any-undecodable typed-struct-not-json duration-out-of-range field-ignored behaviour-field-ignored security-field-ignored client-field-ignored address-port-in-text cidr-prefix-len-unset string-matcher-regex-ignore-case header-matcher-range-reversed header-matcher-range-empty metadata-type-unknown metadata-shadowed field-switched-off tls-field-superseded lb-json-list-malformed lb-json-no-known-policy lb-child-rejected nested-not-checked header-key-illegal header-value-missing header-value-not-base64 credentials-skipped grpc-service-missing grpc-service-untrusted-field rds-plugin-without-extension rds-plugin-dropped rds-plugin-unused rds-plugins-switched-off dump-syntax dump-unknown-field dump-unknown-enum-value dump-unknown-any-type dump-misspelt-type dump-any-without-type dump-duplicate-key dump-second-type dump-two-oneof-members dump-bad-value dump-limit-exceeded dump-without-resource dump-empty-response dump-unknown-shape response-wrapper-empty dump-unknown-resource-type dump-unknown-section dump-manifest-skipped dump-v2 dump-clusters-status dump-path-source-unreadable dump-missing-type dump-empty dump-not-configuration dump-template response-type-unknown response-resource-type-mismatch response-wrapper-name-differs xdstp-name-unsendable response-error-without-name response-error-without-detail lds-source-port-cut lds-policy-never-met lds-filter-chain-never-matches lds-filter-chain-shadowed lds-source-type-any-unused lds-no-filter-chain-matches hcm-filter-disabled hcm-rds-name-empty hcm-route-action-for-other-side lds-server-field-beside-api-listener lds-address-not-tcp lds-default-filter-chain-match cds-lrs-metric-unknown cds-circuit-breaker-thresholds-unread cds-circuit-breaker-zero cds-override-host-status-unsupported cds-override-host-status-empty eds-locality-without-weight eds-locality-without-endpoints eds-without-localities eds-without-endpoints eds-all-draining rds-virtual-host-without-routes rds-route-query-parameters rds-route-prefix-impossible rds-route-path-impossible rds-case-sensitive-with-regex rds-fraction-overflow rds-header-unseen-by-client rds-domain-taken rds-route-unreachable rds-cluster-weight-missing rds-cluster-name-unescaped rds-route-plugin-optional rds-cluster-weight-zero rds-share-negligible rds-auto-host-rewrite-untrusted rds-max-stream-duration-hidden rds-max-stream-duration-below-1ms rds-hash-header-name-empty rds-hash-rewrite-without-pattern rds-hash-policy-unsupported rds-retry-back-off-zero-fails rds-retry-back-off-1ms-fails rds-retry-on-unsupported rds-retry-on-misspelt rds-retry-policy-without-codes rds-num-retries-clamped resource-undecodable resource-name-empty string-matcher-empty grpc-service-not-google-grpc grpc-service-target-unresolvable grpc-service-not-allowed duration-not-positive string-matcher-without-pattern regex-not-re2 header-matcher-without-kind header-name-upper-case address-missing address-not-socket-address port-out-of-range address-not-ip address-port-unset address-port-zero metadata-audience-without-url metadata-not-json channel-credentials-missing tls-credentials-without-root tls-credentials-provider-unknown xds-credentials-without-fallback access-token-empty header-key-reserved header-value-illegal transport-socket-name tls-san-type-unsupported lds-tls-system-roots lds-tls-san-match lds-tls-no-identity lds-tls-client-certificate-without-ca lds-tls-require-sni lds-tls-ocsp-staple-policy tls-unknown-provider-instance tls-secret-not-from-provider tls-unsupported-feature tls-deprecated-provider-field lds-transport-socket-unsupported lds-listener-filters lds-network-filter-name hcm-rds-name-missing lds-filter-chain-duplicate-match lds-neither-api-listener-nor-address lds-address-not-literal lds-address-without-port lds-use-original-dst lds-no-filter-chain lds-network-filters-not-one lds-source-type-unknown lds-network-filter-unsupported hcm-xff-num-trusted-hops hcm-original-ip-detection hcm-filter-unnamed hcm-filter-name-twice hcm-filter-unsupported hcm-filter-on-wrong-side hcm-no-filter hcm-terminal-filter-not-last hcm-last-filter-not-terminal hcm-no-routes hcm-rds-not-from-ads cidr-prefix-len-too-long rbac-address-range ext-proc-body-mode-unsupported ext-proc-trailers-not-sent gcp-authn-cache-size-zero hcm-optional-filter-dropped filter-override-dropped filter-override-type-unknown filter-override-without-config fault-status-unknown rbac-header-forbidden rbac-path-missing rbac-principal-unsupported rbac-audit-logger-missing rbac-audit-logger-unknown rbac-permission-unsupported rbac-action-unknown rbac-action-log rbac-condition-unsupported rds-retry-back-off-not-positive rds-cluster-name-empty rds-weighted-clusters-empty rds-weighted-clusters-sum rds-route-plugin-unknown rds-route-specifier-unsupported rds-domains-empty rds-virtual-hosts-empty rds-domain-pattern rds-domain-second-star rds-route-action-unknown rds-num-retries-zero rds-num-retries-too-big rds-base-interval-missing rds-retry-back-off-below-1ms rds-max-interval-below-base rds-retry-back-off-too-long rds-route-without-match rds-path-specifier-unsupported rds-fraction-denominator-unknown rds-plugin-name-duplicate rds-plugin-type-unknown rls-config-missing rls-config-not-json rls-config-rejected rbac-condition-constant cds-transport-socket-matches cds-lb-policy-unsupported cds-dns-load-assignment-missing cds-dns-not-one-endpoint cds-dns-resolver-name cds-dns-name-empty cds-dns-port-unset cds-discovery-unsupported cds-eds-cluster-config-missing cds-eds-source-unsupported cds-eds-service-name-missing cds-cluster-type-unsupported cds-aggregate-empty cds-aggregate-field-unused cds-lrs-server-not-self cds-tls-sni-too-long cds-tls-without-ca cds-outlier-percentage-above-100 cds-outlier-threshold-above-100 cds-transport-socket-unsupported lb-least-request-choices lb-without-child-kills lb-other-cluster-kills eds-endpoint-weight-sum eds-endpoint-weight-zero endpoint-missing eds-endpoint-address-duplicate eds-locality-missing eds-priority-too-high eds-locality-duplicate eds-priority-gap eds-locality-weight-sum eds-drop-denominator-unknown xdstp-name-malformed bootstrap-not-json bootstrap-wrong-type bootstrap-field-missing bootstrap-without-servers bootstrap-authority-template bootstrap-unknown-key bootstrap-server-template-missing bootstrap-second-server bootstrap-server-uri-scheme bootstrap-field-switched-off dump-duplicate-resource dump-made-for-proxy dump-static-not-judged dump-endpoints-not-included dump-fault-gone suppression-unused suppression-expired suppression-malformed policy-idle baseline-stale filter-override-without-name matcher-missing matcher-too-deep matcher-empty matcher-without-action matcher-keep-matching matcher-action-unknown matcher-predicate-unknown matcher-input-unknown fault-never-injected rbac-policy-never-matches rbac-too-deep rbac-any-false rbac-prefix-len-unset rbac-header-never-seen rbac-address-unparsable rbac-port-out-of-range rbac-authenticated-crashes-tracing rbac-audit-ignored rbac-audit-condition-unknown rbac-audit-logger-dropped rbac-nobody-let-in rbac-policy-shadowed stateful-session-state-unknown stateful-session-without-cookie stateful-session-cookie-without-name stateful-session-override-empty composite-extension-unknown composite-without-matcher composite-action-empty composite-typed-config-unread composite-filter-unsupported composite-sample-without-value ext-proc-header-mode-unknown ext-proc-override-empty lb-autosharding-timeout-zero lb-json-field-missing lb-json-wrong-type lb-json-duration lb-json-empty lb-outlier-detection-percentage lb-priority-unknown lb-ring-hash-size lb-ring-hash-min-above-max lb-ring-hash-function lb-ring-hash-function-unset lb-ring-hash-capped rls-lookup-service-not-a-target rls-stale-age-alone rls-cache-size lb-custom-unusable lb-leads-back-to-cluster lb-foreign-cluster-name lb-ring-hash-below-localities lb-wrr-penalty-negative lb-wrr-metric-unknown lb-weighted-target-zero lb-wrr-locality-without-child lb-nesting-too-deep lb-entry-without-extension lb-no-supported-policy lb-config-rejected lb-entry-skipped cds-field-of-other-discovery cds-ring-maximum-below-default cds-lb-policy-superseded cds-dns-crash cds-dns-name-misread cds-dns-name-malformed cds-dns-name-changed cds-dns-port-out-of-range cds-dns-field-ignored cds-outlier-threshold-fails cds-outlier-algorithm-not-enforced cds-outlier-without-algorithm cds-upstream-config-unsupported eds-drop-category-empty eds-drop-percentage-missing eds-drop-above-all eds-drop-all eds-endpoint-unhealthy eds-endpoint-health-unsupported eds-hash-key-not-string rls-required-match rls-duplicate-key rls-duplicate-name rls-service-config bootstrap-no-known-creds bootstrap-half-key-pair bootstrap-unknown-plugin bootstrap-plugin-name-empty bootstrap-provider-without-files aggregate-too-deep aggregate-without-leaf aggregate-loop aggregate-duplicate aggregate-shared-leaf aggregate-child-missing aggregate-child-rejected lds-no-virtual-host client-defect filter-override-unused filter-override-of-other-filter lb-cluster-not-in-routes cds-outlier-detection-too-few-endpoints rds-policy-never-met lds-route-config-missing rds-cluster-missing cds-endpoints-missing reference-to-nothing reference-to-rejected reference-not-asked-for rds-ring-hash-without-hash-policy rds-hash-policy-unused server-listener-missing server-listener-api server-listener-other-address stateful-session-twice stateful-session-without-draining stateful-session-path-misses-route target-listener-missing target-listener-not-api target-without-virtual-host rds-route-config-unused cds-cluster-unused eds-endpoints-unused cds-weights-unused live-resource-rejected live-resource-missing live-resource-requested live-resource-stale live-resource-removed live-resource-updated aggregate-leaf-passed-over ext-proc-processing-mode-missing hcm-inline-routes-unsupported lds-name-without-address lds-not-one-filter-chain rbac-rule-not-applied rbac-override-empty cds-outlier-zero-interval-kills fault-denominator-unknown lds-traffic-direction lds-filter-chain-name-twice rds-hash-rewrite-throws cds-outlier-without-hosts-kills hcm-idle-timeout-of-rpcs filter-override-wrapped rbac-override-not-applied fault-percentage-missing fault-delay-without-kind lb-ring-hash-size-set lb-typed-struct-without-value lds-api-listener-empty-kills cidr-address-unreadable rds-hash-rewrite-kills rds-non-forwarding-action-kills" -- "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        xdsctl__subcmd__who)
            opts="-h --as --stdin-filename --bootstrap --env --with --world --merge --config --no-config --allow-read --show-secrets --node --tls --ca --cert --key --server-name --token-file --wait --max-size --retries --in --type --all --format --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --as)
                    COMPREPLY=($(compgen -W "lds rds cds eds bootstrap discovery-response csds config-dump any" -- "${cur}"))
                    return 0
                    ;;
                --stdin-filename)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bootstrap)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --env)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --with)
                    COMPREPLY=($(compgen -W "rls tls" -- "${cur}"))
                    return 0
                    ;;
                --world)
                    COMPREPLY=($(compgen -W "auto file dir all" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --allow-read)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ca)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cert)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --key)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --server-name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --token-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --wait)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --retries)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --in)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --type)
                    COMPREPLY=($(compgen -W "lds rds cds eds" -- "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
    esac
}

if [[ "${BASH_VERSINFO[0]}" -eq 4 && "${BASH_VERSINFO[1]}" -ge 4 || "${BASH_VERSINFO[0]}" -gt 4 ]]; then
    complete -F _xdsctl -o nosort -o bashdefault -o default xdsctl
else
    complete -F _xdsctl -o bashdefault -o default xdsctl
fi
